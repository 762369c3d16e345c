/* SPDX-License-Identifier: MIT */
#include "reports/finding/bounded.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "reports/result/trials.h"

static const struct bounded unknown = {(double)NAN, (double)NAN, (double)NAN};

void bounded_by(struct bounded *figure, const struct interval *interval, double value)
{
	*figure = unknown;
	figure->value = value;
	if (!interval_is_sure(interval))
		return;
	figure->low = fmin(interval->low, value);
	figure->high = fmax(interval->high, value);
}

int bounded_of(struct bounded *figure, const struct result_case *line, const double *first,
	       double value)
{
	struct interval interval;
	struct error ignored = {0};
	int code;

	*figure = unknown;
	figure->value = value;
	if (isnan(value))
		return 0;
	code = trials_interval(&interval, line, first, &ignored);
	if (!code)
		bounded_by(figure, &interval, value);
	return code == -ENOMEM ? code : 0;
}

int bounded_statistic(struct bounded *figure, const struct result_case *line, size_t number)
{
	int code = bounded_of(figure, line, &line->trials->latency[number],
			      result_statistic(line, number));

	if (!statistics[number].has_interval)
		figure->low = figure->high = (double)NAN;
	return code;
}

void bounded_latency(struct bounded *figure, const struct result_case *line, const char *key)
{
	*figure = unknown;
	if (line->status != RESULT_COMPLETE || !line->n_trials || !result_has_latency(line))
		return;
	for (size_t i = 0; i < STATISTICS; i++)
		if (!strcmp(statistics[i].key, key))
			bounded_statistic(figure, line, i);
}

int bounded_rate(struct bounded *figure, const struct result_case *line)
{
	double rate;

	*figure = unknown;
	if (line->status != RESULT_COMPLETE || !line->n_trials || !line->windows ||
	    !line->duration_ns)
		return 0;
	rate = result_rate(line, false);
	return isnan(rate) ? -ENOMEM
			   : bounded_of(figure, line, &line->trials->messages_per_s, rate);
}

void bounded_scale(struct bounded *figure, double factor)
{
	figure->value *= factor;
	figure->low *= factor;
	figure->high *= factor;
}
