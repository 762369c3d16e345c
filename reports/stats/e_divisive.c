/* SPDX-License-Identifier: MIT */
#include "reports/stats/e_divisive.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"

/* The same distances, summed in another order, may differ in the last digits. */
#define ROUNDING 1e-9

/* [k][j]: the sum of the distances from the first k values to the j-th. */
struct space {
	double sums[E_DIVISIVE_MOST + 1][E_DIVISIVE_MOST];
	double own[E_DIVISIVE_MOST];        /* sum of distances from each value to those before */
	double reciprocal[E_DIVISIVE_MOST]; /* 1 / (n - 1) */
	double shuffled[E_DIVISIVE_MOST];
	size_t bounds[E_DIVISIVE_MOST + 1]; /* starts of the segments, and the end of the last */
	size_t n_segments;
};

static struct space *create_space(void)
{
	struct space *space = malloc(sizeof(*space));

	if (!space)
		return NULL;
	for (size_t i = 2; i < E_DIVISIVE_MOST; i++)
		space->reciprocal[i] = 1 / ((double)i - 1);
	return space;
}

unsigned int e_divisive_shuffles(double level)
{
	/* Includes the original order. */
	return (unsigned int)floor(1 / level * (1 + ROUNDING));
}

static void add_up(struct space *space, const double *values, size_t count)
{
	memset(space->sums[0], 0, count * sizeof(double));
	for (size_t k = 0; k < count; k++) {
		const double *before = space->sums[k];
		double *sums = space->sums[k + 1];
		double value = values[k];

		space->own[k] = before[k];
		for (size_t j = 0; j < count; j++)
			sums[j] = before[j] + fabs(value - values[j]);
	}
}

/* Tries every end of the second part, so that a later change does not hide an earlier one. */
static void find_end(struct e_divisive_place *place, const struct space *space, size_t at,
		     double within_first, size_t count, size_t least)
{
	const double *sums = space->sums[at];
	double first = (double)at;
	double spread = within_first * space->reciprocal[at];
	double within = 0;
	double between = 0;

	for (size_t end = at; end < count;) {
		double size;
		double statistic;

		between += sums[end];
		within += space->own[end] - sums[end];
		end++;
		if (end - at < least)
			continue;
		size = (double)(end - at);
		statistic =
			2 / (double)end *
			(between - size * spread - first * within * space->reciprocal[end - at]);
		if (statistic > place->statistic)
			*place = (struct e_divisive_place){at, end, statistic};
	}
}

static struct e_divisive_place e_divisive_find_one(struct space *space, const double *values,
						   size_t count, size_t least)
{
	struct e_divisive_place place = {.statistic = -1};
	double within = 0;

	add_up(space, values, count);
	for (size_t at = 0; at + least <= count; at++) {
		if (at >= least)
			find_end(&place, space, at, within, count, least);
		within += space->own[at];
	}
	return place;
}

int e_divisive_find(struct e_divisive_place *place, const double *values, size_t count,
		    size_t least, struct error *error)
{
	struct space *space;

	if (count > E_DIVISIVE_MOST)
		return error_set(error, -EINVAL, "%zu values exceed the maximum of %d", count,
				 E_DIVISIVE_MOST);
	space = create_space();
	if (!space)
		return error_set_errno(error, -ENOMEM, "cannot search for changes");
	*place = e_divisive_find_one(space, values, count, least);
	free(space);
	return 0;
}

/* Draws a number below count. */
static size_t draw(uint64_t *state, size_t count)
{
	return (size_t)((random_next(state) >> 32) * count >> 32);
}

static void shuffle(double *values, size_t count, uint64_t *state)
{
	for (size_t left = count; left > 1; left--) {
		size_t other = draw(state, left);
		double value = values[left - 1];

		values[left - 1] = values[other];
		values[other] = value;
	}
}

static bool is_too_many(const struct e_divisive_rule *rule, unsigned int reached)
{
	return (1.0 + reached) / (1.0 + rule->shuffles) >= rule->level;
}

static double part_of(const struct e_divisive_rule *rule, unsigned int reached)
{
	return (1.0 + reached) / (1.0 + rule->shuffles);
}

/* Finds the best place in all segments, and its segment. */
static struct e_divisive_place find_all(struct space *space, const double *values, size_t least,
					size_t *segment)
{
	struct e_divisive_place best = {.statistic = -1};

	for (size_t i = 0; i < space->n_segments; i++) {
		size_t first = space->bounds[i];
		struct e_divisive_place place = e_divisive_find_one(
			space, values + first, space->bounds[i + 1] - first, least);

		if (place.statistic <= best.statistic)
			continue;
		best = (struct e_divisive_place){first + place.at, first + place.end,
						 place.statistic};
		*segment = i;
	}
	return best;
}

/* Shuffles values within their segments only, so that divisions already made stay. */
static double chance(struct space *space, const struct e_divisive_rule *rule, uint64_t *state,
		     const double *values, double statistic)
{
	size_t count = space->bounds[space->n_segments];
	double wanted = statistic * (1 - ROUNDING);
	unsigned int reached = 0;
	size_t ignored;

	memcpy(space->shuffled, values, count * sizeof(double));
	for (unsigned int i = 0; i < rule->shuffles; i++) {
		for (size_t j = 0; j < space->n_segments; j++)
			shuffle(space->shuffled + space->bounds[j],
				space->bounds[j + 1] - space->bounds[j], state);
		reached +=
			find_all(space, space->shuffled, rule->least, &ignored).statistic >= wanted;
		if (is_too_many(rule, reached))
			return 1;
	}
	return part_of(rule, reached);
}

static void divide_segment(struct space *space, size_t segment, size_t at)
{
	memmove(&space->bounds[segment + 2], &space->bounds[segment + 1],
		(space->n_segments - segment) * sizeof(space->bounds[0]));
	space->bounds[segment + 1] = at;
	space->n_segments++;
}

static void insert(struct e_divisive_division *divisions, size_t *n_divisions,
		   struct e_divisive_division it)
{
	size_t place = *n_divisions;

	for (; place && divisions[place - 1].at > it.at; place--)
		divisions[place] = divisions[place - 1];
	divisions[place] = it;
	++*n_divisions;
}

int e_divisive_divide(const struct e_divisive_rule *rule, const double *values, size_t count,
		      struct e_divisive_division *divisions, size_t *n_divisions,
		      struct error *error)
{
	uint64_t state = random_mix(rule->seed);
	struct space *space;

	*n_divisions = 0;
	if (count > E_DIVISIVE_MOST)
		return error_set(error, -EINVAL, "%zu values exceed the maximum of %d", count,
				 E_DIVISIVE_MOST);
	space = create_space();
	if (!space)
		return error_set_errno(error, -ENOMEM, "cannot search for changes");
	space->bounds[0] = 0;
	space->bounds[1] = count;
	space->n_segments = 1;
	for (;;) {
		size_t segment = 0;
		struct e_divisive_place best = find_all(space, values, rule->least, &segment);
		double p = 1;

		if (best.statistic > 0)
			p = chance(space, rule, &state, values, best.statistic);
		if (p >= rule->level)
			break;
		insert(divisions, n_divisions,
		       (struct e_divisive_division){best.at, best.statistic, p});
		divide_segment(space, segment, best.at);
	}
	free(space);
	return 0;
}

/* A value, and which of the two samples it belongs to. */
struct sample {
	double value;
	bool is_first;
};

static int by_value(const void *left, const void *right)
{
	const struct sample *one = left;
	const struct sample *other = right;

	return (one->value > other->value) - (one->value < other->value);
}

/*
 * Sums distances of sorted values as gaps between adjacent values: each gap counts once for every
 * pair of values around it.
 */
static double distance_of(const struct sample *samples, size_t n_first, size_t count)
{
	double first = (double)n_first;
	double second = (double)(count - n_first);
	double below_first = 0;
	double below_second = 0;
	double between = 0;
	double within_first = 0;
	double within_second = 0;

	for (size_t i = 0; i + 1 < count; i++) {
		double gap = samples[i + 1].value - samples[i].value;

		below_first += samples[i].is_first;
		below_second += !samples[i].is_first;
		between += gap * (below_first * (second - below_second) +
				  below_second * (first - below_first));
		within_first += gap * below_first * (first - below_first);
		within_second += gap * below_second * (second - below_second);
	}
	return 2 / (first + second) *
	       (between - second * within_first / (first - 1) -
		first * within_second / (second - 1));
}

static struct sample *sort(const double *values, size_t at, size_t count)
{
	struct sample *samples = calloc(count + 1, sizeof(*samples));

	for (size_t i = 0; samples && i < count; i++)
		samples[i] = (struct sample){values[i], i < at};
	if (samples)
		qsort(samples, count, sizeof(*samples), by_value);
	return samples;
}

double e_divisive_distance(const double *values, size_t at, size_t count)
{
	struct sample *samples = sort(values, at, count);
	double distance = samples ? distance_of(samples, at, count) : (double)NAN;

	free(samples);
	return distance;
}

static void shuffle_samples(struct sample *samples, size_t count, uint64_t *state)
{
	for (size_t left = count; left > 1; left--) {
		size_t other = draw(state, left);
		bool is_first = samples[left - 1].is_first;

		samples[left - 1].is_first = samples[other].is_first;
		samples[other].is_first = is_first;
	}
}

int e_divisive_compare(double *p, const struct e_divisive_rule *rule, const double *values,
		       size_t at, size_t count)
{
	struct sample *samples = sort(values, at, count);
	uint64_t state = random_mix(rule->seed);
	unsigned int reached = 0;
	double wanted;

	*p = 1;
	if (!samples)
		return -ENOMEM;
	wanted = distance_of(samples, at, count);
	wanted -= fabs(wanted) * ROUNDING;
	for (unsigned int i = 0; i < rule->shuffles && !is_too_many(rule, reached); i++) {
		shuffle_samples(samples, count, &state);
		reached += distance_of(samples, at, count) >= wanted;
	}
	if (!is_too_many(rule, reached))
		*p = part_of(rule, reached);
	free(samples);
	return 0;
}
