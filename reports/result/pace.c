/* SPDX-License-Identifier: MIT */
#include "reports/result/pace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reports/result/result.h"

static bool has_same_maximum(const struct pace *one, const struct pace *other)
{
	return !strcmp(one->maximum_case, other->maximum_case) && one->maximum <= other->maximum &&
	       one->maximum >= other->maximum;
}

static int take_first(struct result_case *line, const struct pace *seen, struct error *error)
{
	line->pace = malloc(sizeof(*line->pace));
	if (!line->pace)
		return error_set_errno(error, -ENOMEM, "cannot keep the results");
	*line->pace = *seen;
	return 0;
}

int pace_add(struct result_case *line, const struct pace *seen, struct error *error)
{
	struct pace *pace = line->pace;

	if (!pace)
		return take_first(line, seen, error);
	hist_merge(&pace->lag, &seen->lag);
	hist_merge(&pace->uncorrected, &seen->uncorrected);
	if (!has_same_maximum(pace, seen)) {
		pace->maximum_case[0] = '\0';
		pace->maximum = 0;
	}
	return 0;
}

double pace_rate(const struct result_case *line)
{
	double sum = 0;

	for (size_t i = 0; i < line->n_trials; i++)
		sum += line->trials[i].pace.rate;
	return sum / (double)line->n_trials;
}

double pace_got(const struct result_case *line)
{
	return result_rate(line, false);
}

uint64_t pace_unsent(const struct result_case *line)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < line->n_trials; i++)
		sum += line->trials[i].pace.unsent;
	return sum;
}

bool pace_is_saturated(const struct result_case *line)
{
	size_t count = 0;

	for (size_t i = 0; i < line->n_trials; i++)
		count += line->trials[i].pace.is_saturated;
	return count && 2 * count >= line->n_trials;
}
