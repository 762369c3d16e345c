/* SPDX-License-Identifier: MIT */
#include "reports/result/compared_figure.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "reports/result/statistic.h"
#include "reports/result/trials.h"

#define NS_PER_US    1000.0
#define PER_MILLION  1e6
#define BYTES_PER_GB 1.25e8 /* of 10^9 bits */

static double statistic(const struct result_trial *trial, const char *key)
{
	for (size_t i = 0; i < STATISTICS; i++)
		if (!strcmp(statistics[i].key, key))
			return trial->latency[i];
	return (double)NAN;
}

static double median(const struct result_trial *trial)
{
	return statistic(trial, "p50");
}

static double tail(const struct result_trial *trial)
{
	return statistic(trial, "p99");
}

static double mean(const struct result_trial *trial)
{
	return statistic(trial, "mean");
}

static double bytes(const struct result_trial *trial)
{
	return trial->bytes_per_s;
}

static double messages(const struct result_trial *trial)
{
	return trial->messages_per_s;
}

static double client_cpu(const struct result_trial *trial)
{
	return result_cpu_ns(&trial->client);
}

static double server_cpu(const struct result_trial *trial)
{
	return result_cpu_ns(&trial->server);
}

/* Rejects values that cannot be part of a ratio; a document may have any numbers. */
static double value_of(const struct result_trial *trial, const void *of)
{
	const struct compared_figure *figure = of;
	double value = figure->value(trial);

	return value > 0 && isfinite(value) ? value : (double)NAN;
}

int compared_figure_over_trials(double *median_of, const struct result_case *line,
				const struct compared_figure *figure, struct error *error)
{
	struct interval interval;
	struct error unknown = {0};
	int code = trials_interval_of(&interval, line, value_of, figure, &unknown);

	*median_of = code ? (double)NAN : interval.median;
	return code == -ENOMEM ? error_set(error, code, "%s", unknown.text) : 0;
}

/* The smallest differences that count. Tails have few samples and vary more between runs. */
#define THRESHOLD      0.05
#define TAIL_THRESHOLD 0.10

const struct compared_figure compared_figure_median = {"p50_ns", "p50 us",  "ns",  NS_PER_US,
						       false,    THRESHOLD, median};
const struct compared_figure compared_figure_tail = {"p99_ns", "p99 us",       "ns", NS_PER_US,
						     false,    TAIL_THRESHOLD, tail};
const struct compared_figure compared_figure_mean = {"mean_ns", "mean us", "ns", NS_PER_US,
						     false,     THRESHOLD, mean};
const struct compared_figure compared_figure_bytes = {"bytes_per_s", "Gb/s",    "B/s", BYTES_PER_GB,
						      true,          THRESHOLD, bytes};
const struct compared_figure compared_figure_messages = {
	"messages_per_s", "Mmsg/s", "1/s", PER_MILLION, true, THRESHOLD, messages};
const struct compared_figure compared_figure_client_cpu = {
	"client_cpu_ns", "client CPU us", "ns", NS_PER_US, false, THRESHOLD, client_cpu};
const struct compared_figure compared_figure_server_cpu = {
	"server_cpu_ns", "server CPU us", "ns", NS_PER_US, false, THRESHOLD, server_cpu};
