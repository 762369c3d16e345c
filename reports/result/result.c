/* SPDX-License-Identifier: MIT */
#include "reports/result/result.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/result/trials.h"

const char *result_status_name(enum result_status status)
{
	static const char *const names[] = {
		[RESULT_INTERRUPTED] = "interrupted",
		[RESULT_COMPLETE] = "complete",
		[RESULT_FAILED] = "failed",
		[RESULT_SKIPPED] = "skipped",
	};

	return names[status];
}

const char *result_kind_name(enum result_kind kind)
{
	static const char *const names[] = {
		[RESULT_HALF] = "half",
		[RESULT_FULL] = "full",
		[RESULT_COMPLETION] = "completion",
		[RESULT_CALL] = "call",
	};

	return names[kind];
}

uint64_t result_line_mbps(const struct result *result)
{
	uint64_t near = result->client.rate_mbps;
	uint64_t far = result->server.rate_mbps;

	return near < far ? near : far;
}

bool result_has_latency(const struct result_case *line)
{
	return line->latency || line->has_figures;
}

double result_statistic(const struct result_case *line, size_t number)
{
	const struct statistic *statistic = &statistics[number];

	if (!line->latency)
		return line->has_figures ? line->figures[number] : (double)NAN;
	return statistic->is_known(line->latency, statistic)
		       ? statistic->value(line->latency, statistic)
		       : (double)NAN;
}

double result_named(const struct result_case *line, const char *key)
{
	size_t i = 0;

	while (strcmp(statistics[i].key, key) != 0)
		i++;
	return result_statistic(line, i);
}

static double least_of(const struct result_case *line, size_t number)
{
	double least = line->trials->latency[number];

	for (size_t i = 1; i < line->n_trials; i++)
		least = fmin(least, line->trials[i].latency[number]);
	return least;
}

static double mean_of(const struct result_case *line, size_t number)
{
	double sum = 0;

	for (size_t i = 0; i < line->n_trials; i++)
		sum += line->trials[i].latency[number] * (double)line->trials[i].messages;
	return sum / (double)line->messages;
}

int result_take_figures(struct result_case *line, struct error *error)
{
	line->has_figures = true;
	for (size_t i = 0; i < STATISTICS; i++) {
		struct interval interval;
		struct error unknown = {0};
		int code = trials_interval(&interval, line, &line->trials->latency[i], &unknown);

		if (code == -ENOMEM)
			return error_set(error, code, "%s", unknown.text);
		line->figures[i] = code ? (double)NAN : interval.median;
		if (!code && !strcmp(statistics[i].key, "min"))
			line->figures[i] = least_of(line, i);
		if (!code && !strcmp(statistics[i].key, "mean") && line->messages)
			line->figures[i] = mean_of(line, i);
	}
	return 0;
}

double result_cpu_ns(const struct result_cost *cost)
{
	return cost->messages
		       ? ((double)cost->user_ns + (double)cost->system_ns) / (double)cost->messages
		       : (double)NAN;
}

void result_add_cost(struct result_cost *into, const struct result_cost *from)
{
	into->messages += from->messages;
	into->user_ns += from->user_ns;
	into->system_ns += from->system_ns;
	into->voluntary_switches += from->voluntary_switches;
	into->involuntary_switches += from->involuntary_switches;
	into->cq_events += from->cq_events;
	into->completions += from->completions;
}

void result_join_warmup(struct result_warmup *into, const struct result_warmup *from)
{
	into->messages += from->messages;
	if (from->duration_ns > into->duration_ns)
		into->duration_ns = from->duration_ns;
	into->has_converged = into->has_converged && from->has_converged;
}

/* Allocates everything that adding a trial needs, so that adding cannot fail halfway. */
static int reserve(struct result_case *line, const struct hist *latency,
		   const struct rate_windows *windows)
{
	struct result_trial *grown = reallocarray(line->trials, line->n_trials + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	line->trials = grown;
	if (latency && !line->latency) {
		line->latency = hist_create();
		if (!line->latency)
			return -ENOMEM;
	}
	if (windows && !line->windows)
		line->windows = calloc(1, sizeof(*line->windows));
	return windows && !line->windows ? -ENOMEM : 0;
}

static int merge_windows(struct result_case *line, const struct rate_windows *windows,
			 struct error *error)
{
	if (line->n_trials)
		return rate_windows_append(line->windows, windows, error);
	*line->windows = *windows;
	return 0;
}

int result_add_trial(struct result_case *line, const struct result_trial *trial,
		     const struct hist *latency, const struct rate_windows *windows,
		     struct error *error)
{
	int code = reserve(line, latency, windows);

	if (code)
		return error_set_errno(error, code, "cannot keep the results");
	if (windows)
		code = merge_windows(line, windows, error);
	if (code)
		return code;
	if (latency)
		hist_merge(line->latency, latency);
	line->trials[line->n_trials++] = *trial;
	line->messages += trial->messages;
	line->duration_ns += trial->duration_ns;
	line->sent += trial->sent;
	line->lost += trial->lost;
	result_add_cost(&line->client, &trial->client);
	result_add_cost(&line->server, &trial->server);
	return 0;
}

int result_add_warmup(struct result_case *line, const struct hist *warmup, struct error *error)
{
	if (!warmup || !warmup->count)
		return 0;
	if (!line->warmup) {
		line->warmup = hist_create();
		if (!line->warmup)
			return error_set_errno(error, -ENOMEM, "cannot keep the results");
	}
	hist_merge(line->warmup, warmup);
	return 0;
}

int result_add_shares(struct result_case *line, const struct shares *shares, bool is_first,
		      struct error *error)
{
	if (shares_are_several(shares) && (is_first || line->shares.threads))
		return shares_add(&line->shares, shares, error);
	shares_close(&line->shares);
	return 0;
}

int result_add_flows(struct result_case *line, const struct flows *flows, bool is_first,
		     struct error *error)
{
	if (flows->count && (is_first || line->flows.count))
		return flows_add(&line->flows, flows, error);
	flows_close(&line->flows);
	return 0;
}

void result_drop_trials(struct result_case *line)
{
	shares_close(&line->shares);
	flows_close(&line->flows);
	receivers_close(&line->receivers);
	free(line->latency);
	free(line->warmup);
	free(line->windows);
	free(line->pace);
	free(line->breakdown);
	free(line->trials);
	line->latency = NULL;
	line->warmup = NULL;
	line->windows = NULL;
	line->pace = NULL;
	line->breakdown = NULL;
	line->trials = NULL;
	line->n_trials = 0;
	line->has_figures = false;
	line->messages = 0;
	line->duration_ns = 0;
	line->sent = 0;
	line->lost = 0;
	line->client = (struct result_cost){0};
	line->server = (struct result_cost){0};
}

enum result_status result_status_of_cases(const struct result *result)
{
	enum result_status status = RESULT_COMPLETE;

	for (size_t i = 0; i < result->n_cases; i++) {
		if (result->cases[i].status == RESULT_INTERRUPTED)
			return RESULT_INTERRUPTED;
		if (result->cases[i].status == RESULT_FAILED)
			status = RESULT_FAILED;
	}
	return status;
}

void result_add_counters(json_t **sum, const json_t *counters)
{
	const char *name;
	json_t *value;

	if (!*sum)
		*sum = json_object();
	json_object_foreach((json_t *)(uintptr_t)counters, name, value)
	{
		json_int_t before = json_integer_value(json_object_get(*sum, name));
		json_int_t more = json_integer_value(value);

		/* Documents may come from anywhere. */
		if (__builtin_add_overflow(before, more, &more))
			more = INT64_MAX;
		json_object_set_new(*sum, name, json_integer(more));
	}
}

static double one_way_rate(const struct result_trial *trial, const void *of)
{
	return trial->messages_per_s;
}

static double two_way_rate(const struct result_trial *trial, const void *of)
{
	return trial->messages_per_s + trial->far_messages_per_s;
}

static double far_rate(const struct result_trial *trial, const void *of)
{
	return trial->far_messages_per_s;
}

static double median_over_trials(const struct result_case *line, trials_value *value)
{
	struct interval interval;
	struct error unknown = {0};
	int code = trials_interval_of(&interval, line, value, NULL, &unknown);

	return code ? (double)NAN : interval.median;
}

double result_rate(const struct result_case *line, bool with_far)
{
	return median_over_trials(line, with_far ? two_way_rate : one_way_rate);
}

double result_payload(const struct result_case *line)
{
	bool binds = !strcmp(line->op, "bind-mw") || !strcmp(line->op, "rebind-mw");

	return binds ? (double)NAN : (double)line->size;
}

double result_far_rate(const struct result_case *line)
{
	return median_over_trials(line, far_rate);
}

void result_finish(struct result *result)
{
	for (size_t i = 0; i < result->n_cases; i++) {
		result_drop_trials(&result->cases[i]);
		json_decref(result->cases[i].parameters);
		json_decref(result->cases[i].counters);
		json_decref(result->cases[i].needs);
		free(result->cases[i].text);
	}
	free(result->cases);
	json_decref(result->texts);
	json_decref(result->imported);
	json_decref(result->command);
	json_decref(result->plan);
	json_decref(result->warnings);
	json_decref(result->overflow);
	json_decref(result->client.facts);
	json_decref(result->server.facts);
	*result = (struct result){0};
}
