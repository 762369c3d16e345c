/* SPDX-License-Identifier: MIT */
#include "reports/fleet/blame/yardstick.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/fleet/blame/judge.h"
#include "reports/stats/median.h"

/* Makes the median absolute deviation an estimate of the standard deviation of a normal. */
#define MAD_SCALE 1.4826

static enum yardstick_kind kind_of(const struct fleet *fleet, const struct fleet_pair *pair)
{
	const char *from = fleet->nodes[pair->from].group;
	const char *to = fleet->nodes[pair->to].group;

	if (pair->from == pair->to)
		return YARDSTICK_SELF;
	return *from && *to && strcmp(from, to) != 0 ? YARDSTICK_BETWEEN : YARDSTICK_WITHIN;
}

static size_t position(const struct yardsticks *yardsticks, size_t number, size_t rail,
		       enum yardstick_kind kind)
{
	return (number * yardsticks->n_rails + rail) * YARDSTICK_KINDS + kind;
}

const struct yardstick *yardstick_at(const struct yardsticks *yardsticks, size_t number,
				     size_t rail, enum yardstick_kind kind)
{
	return &yardsticks->all[position(yardsticks, number, rail, kind)];
}

static uint8_t sender_rail(const struct fleet_pair *pair, int direction)
{
	return direction ? pair->to_rail : pair->from_rail;
}

/* Summarizes values; room is for as many. */
static void summarize(struct yardstick *yardstick, double *values, size_t count, double *room)
{
	yardstick->count = count;
	if (!count)
		return;
	median_sort(values, count);
	yardstick->median = median_of_sorted(values, count);
	yardstick->least = values[0];
	yardstick->most = values[count - 1];
	for (size_t i = 0; i < count; i++)
		room[i] = fabs(values[i] - yardstick->median);
	median_sort(room, count);
	yardstick->mad = median_of_sorted(room, count);
}

static bool is_counted(const struct fleet_pair *pair)
{
	return pair->status == FLEET_MEASURED && pair->figures && !pair->retest;
}

/* Sorts the figures of a case by rail and kind into values, and counts them. */
static void collect(const struct yardsticks *yardsticks, size_t number, double *values,
		    size_t *starts)
{
	const struct fleet *fleet = yardsticks->fleet;
	size_t classes = yardsticks->n_rails * YARDSTICK_KINDS;

	memset(starts, 0, (classes + 1) * sizeof(*starts));
	for (int is_filling = 0; is_filling < 2; is_filling++) {
		for (size_t i = 0; i < fleet->n_pairs; i++) {
			const struct fleet_pair *pair = &fleet->pairs[i];

			for (int direction = 0; is_counted(pair) && direction < 2; direction++) {
				double figure = pair->figures[2 * number + (size_t)direction];
				size_t at = position(yardsticks, 0, sender_rail(pair, direction),
						     kind_of(fleet, pair));

				if (isnan(figure))
					continue;
				if (is_filling)
					values[starts[at]++] = figure;
				else
					starts[at + 1]++;
			}
		}
		for (size_t i = 0; !is_filling && i < classes; i++)
			starts[i + 1] += starts[i];
	}
	/* Filling moved each start to the next one's. */
	memmove(&starts[1], starts, classes * sizeof(*starts));
	starts[0] = 0;
}

static void summarize_case(struct yardsticks *yardsticks, size_t number, double *values,
			   double *room, size_t *starts)
{
	collect(yardsticks, number, values, starts);
	for (size_t rail = 0; rail < yardsticks->n_rails; rail++) {
		const size_t *start = &starts[rail * YARDSTICK_KINDS];
		struct yardstick *all = &yardsticks->all[position(yardsticks, number, rail, 0)];
		size_t pairs = start[YARDSTICK_SELF] - start[YARDSTICK_WITHIN];

		for (int kind = 0; kind < YARDSTICK_COMMON; kind++) {
			summarize(&all[kind], &values[start[kind]], start[kind + 1] - start[kind],
				  room);
			yardsticks->n_figures += all[kind].count;
		}
		if (all[YARDSTICK_WITHIN].count == pairs)
			all[YARDSTICK_COMMON] = all[YARDSTICK_WITHIN];
		else
			summarize(&all[YARDSTICK_COMMON], &values[start[YARDSTICK_WITHIN]], pairs,
				  room);
	}
}

int yardsticks_open(struct yardsticks *yardsticks, const struct fleet *fleet, struct error *error)
{
	size_t n_rails = 1;
	double *values = calloc(4 * fleet->n_pairs + 1, sizeof(*values));
	size_t *starts;

	for (size_t i = 0; i < fleet->n_pairs; i++) {
		const struct fleet_pair *pair = &fleet->pairs[i];
		uint8_t rail = pair->from_rail > pair->to_rail ? pair->from_rail : pair->to_rail;

		if (rail >= n_rails)
			n_rails = rail + 1U;
	}
	*yardsticks = (struct yardsticks){.fleet = fleet, .n_rails = n_rails};
	yardsticks->all =
		calloc(fleet->n_cases * n_rails * YARDSTICK_KINDS + 1, sizeof(*yardsticks->all));
	starts = calloc(n_rails * YARDSTICK_KINDS + 1, sizeof(*starts));
	if (values && yardsticks->all && starts)
		for (size_t i = 0; i < fleet->n_cases; i++)
			summarize_case(yardsticks, i, values, &values[2 * fleet->n_pairs], starts);
	else
		error_set(error, -ENOMEM, "no memory to judge %zu measurements", fleet->n_pairs);
	if (!values || !starts)
		yardsticks_close(yardsticks);
	free(values);
	free(starts);
	return yardsticks->all ? 0 : -ENOMEM;
}

void yardsticks_close(struct yardsticks *yardsticks)
{
	free(yardsticks->all);
	yardsticks->all = NULL;
}

const struct yardstick *yardstick_of(const struct yardsticks *yardsticks,
				     const struct fleet_pair *pair, size_t number, int direction)
{
	uint8_t rail = sender_rail(pair, direction);
	enum yardstick_kind kind = kind_of(yardsticks->fleet, pair);
	const struct yardstick *own = yardstick_at(yardsticks, number, rail, kind);

	if (own->count >= FLEET_OUTLIER_LEAST || kind == YARDSTICK_SELF)
		return own;
	return yardstick_at(yardsticks, number, rail, YARDSTICK_COMMON);
}

double yardstick_floor(const struct fleet *fleet, const struct fleet_pair *pair, size_t number)
{
	const struct fleet_case *line = &fleet->cases[number];
	double rate;

	if (!line->floor_is_line)
		return line->floor;
	rate = fleet_line_rate(fleet, pair);
	return rate > 0 ? line->floor * rate : (double)NAN;
}

struct judged_figure yardstick_judge(const struct yardsticks *yardsticks,
				     const struct fleet_pair *pair, size_t number, int direction)
{
	const struct yardstick *expected = yardstick_of(yardsticks, pair, number, direction);
	double figure = pair->figures[2 * number + (size_t)direction];
	double sign = yardsticks->fleet->cases[number].is_latency ? 1 : -1;
	double floor = yardstick_floor(yardsticks->fleet, pair, number);
	double excess = sign * (figure - expected->median);
	struct judged_figure judged = {0};

	if (expected->count >= FLEET_OUTLIER_LEAST) {
		judged.is_low = excess > FLEET_OUTLIER_SHARE * expected->median;
		judged.z = excess / (MAD_SCALE * expected->mad);
		if (judged.is_low && judged.z > FLEET_OUTLIER_Z)
			judged.faults = FLEET_FAULT_OUTLIER;
	}
	if (sign * (figure - floor) > 0) {
		judged.faults |= FLEET_FAULT_FLOOR;
		judged.z = (double)INFINITY;
	}
	return judged;
}
