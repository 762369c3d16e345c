/* SPDX-License-Identifier: MIT */
#include "reports/finding/bounded.h"

#include <math.h>
#include <string.h>

#include "reports/result/trials.h"

static const struct bounded unknown = {(double)NAN, (double)NAN, (double)NAN};

void bounded_of(struct bounded *figure, const struct result_case *line, const double *first,
		double pooled)
{
	struct interval interval;
	struct error ignored = {0};

	*figure = unknown;
	if (trials_interval(&interval, line, first, &ignored)) {
		figure->value = pooled;
		return;
	}
	figure->value = interval.median;
	if (!interval_is_sure(&interval))
		return;
	figure->low = interval.low;
	figure->high = interval.high;
}

void bounded_latency(struct bounded *figure, const struct result_case *line, const char *key)
{
	*figure = unknown;
	if (line->status != RESULT_COMPLETE || !line->n_trials || !result_has_latency(line))
		return;
	for (size_t i = 0; i < STATISTICS; i++) {
		double pooled = result_statistic(line, i);

		if (!strcmp(statistics[i].key, key) && !isnan(pooled))
			bounded_of(figure, line, &line->trials->latency[i], pooled);
	}
}

void bounded_rate(struct bounded *figure, const struct result_case *line)
{
	*figure = unknown;
	if (line->status != RESULT_COMPLETE || !line->n_trials || !line->windows ||
	    !line->duration_ns)
		return;
	bounded_of(figure, line, &line->trials->messages_per_s, result_rate(line, false));
}

void bounded_scale(struct bounded *figure, double factor)
{
	figure->value *= factor;
	figure->low *= factor;
	figure->high *= factor;
}
