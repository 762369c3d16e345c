/* SPDX-License-Identifier: MIT */
#include "reports/bounded.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/interval.h"

#define CONFIDENCE 0.95

static const struct bounded unknown = {(double)NAN, (double)NAN, (double)NAN};

/* first: that of the first trial. */
static void add_interval(struct bounded *figure, const struct result_case *line, const double *first)
{
	double *values = calloc(line->n_trials + 1, sizeof(*values));
	struct interval interval;
	struct error ignored = {0};

	if (!values)
		return;
	for (size_t i = 0; i < line->n_trials; i++)
		memcpy(&values[i], (const char *)first + i * sizeof(*line->trials),
		       sizeof(*values));
	if (!interval_median(&interval, values, line->n_trials, &ignored) &&
	    interval.confidence >= CONFIDENCE) {
		figure->low = interval.low;
		figure->high = interval.high;
	}
	free(values);
}

void bounded_latency(struct bounded *figure, const struct result_case *line, const char *key)
{
	*figure = unknown;
	if (line->status != RESULT_COMPLETE || !line->n_trials || !line->latency)
		return;
	for (size_t i = 0; i < STATISTICS; i++) {
		const struct statistic *statistic = &statistics[i];

		if (strcmp(statistic->key, key) != 0 ||
		    !statistic->is_known(line->latency, statistic))
			continue;
		figure->value = statistic->value(line->latency, statistic);
		add_interval(figure, line, &line->trials->latency[i]);
	}
}

void bounded_rate(struct bounded *figure, const struct result_case *line)
{
	double messages = 0;

	*figure = unknown;
	if (line->status != RESULT_COMPLETE || !line->n_trials || !line->windows ||
	    !line->duration_ns)
		return;
	for (size_t i = 0; i < line->n_trials; i++)
		messages += line->trials[i].messages_per_s * (double)line->trials[i].duration_ns;
	figure->value = messages / (double)line->duration_ns;
	add_interval(figure, line, &line->trials->messages_per_s);
}

void bounded_scale(struct bounded *figure, double factor)
{
	figure->value *= factor;
	figure->low *= factor;
	figure->high *= factor;
}
