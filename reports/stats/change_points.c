/* SPDX-License-Identifier: MIT */
#include "reports/stats/change_points.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"
#include "reports/stats/e_divisive.h"
#include "reports/stats/median.h"

/* Change points this many windows before the current one are final. */
#define WINDOWS_OPEN 2

const struct change_points_rule change_points_usual = {
	.window = 50, .level = 0.001, .magnitude = 0.03};

/* One window of the values: [begin, end). */
struct look {
	const struct change_points_rule *rule;
	const double *values;
	size_t begin;
	size_t end;
};

static size_t less(size_t from, size_t by)
{
	return from > by ? from - by : 0;
}

static struct e_divisive_rule ediv_of(const struct change_points_rule *rule, size_t seed)
{
	return (struct e_divisive_rule){CHANGE_POINTS_LEAST, rule->level,
					e_divisive_shuffles(rule->level), seed};
}

/* Returns the median of [from, to), at most a window's values. */
static double median(const struct look *look, size_t from, size_t to)
{
	double sorted[CHANGE_POINTS_WINDOW_MOST];
	size_t count = to - from;

	for (size_t i = 0; i < count; i++)
		sorted[i] = look->values[from + i];
	median_sort(sorted, count);
	return median_of_sorted(sorted, count);
}

/* Finds the values on both sides of a change point, up to the adjacent change points. */
static void find_sides(const struct look *look, const struct change_points *points, size_t number,
		       size_t *from, size_t *to)
{
	size_t at = points->list[number].at;
	size_t window = look->rule->window;
	size_t before = number ? points->list[number - 1].at : 0;
	size_t next = number + 1 < points->count ? points->list[number + 1].at : look->end;

	*from = less(at, window) > before ? less(at, window) : before;
	*to = at + window < next ? at + window : next;
}

static void take_medians(const struct look *look, struct change_points *points, size_t number)
{
	size_t from;
	size_t to;

	find_sides(look, points, number, &from, &to);
	points->list[number].before = median(look, from, points->list[number].at);
	points->list[number].after = median(look, points->list[number].at, to);
}

/* Computes the p of a change point between its two sides; 1 if the change is too small. */
static int chance(double *p, const struct look *look, struct change_points *points, size_t number,
		  struct error *error)
{
	const struct change_point *point = &points->list[number];
	const struct e_divisive_rule rule = ediv_of(look->rule, point->at);
	double logs[2 * CHANGE_POINTS_WINDOW_MOST];
	size_t from;
	size_t to;

	*p = 1;
	take_medians(look, points, number);
	if (fabs(log(point->after / point->before)) < log1p(look->rule->magnitude))
		return 0;
	find_sides(look, points, number, &from, &to);
	for (size_t i = from; i < to; i++)
		logs[i - from] = log(look->values[i]);
	if (e_divisive_compare(p, &rule, logs, point->at - from, to - from))
		return error_set_errno(error, -ENOMEM, "cannot search for change points");
	return 0;
}

static void drop(struct change_points *points, size_t number)
{
	memmove(&points->list[number], &points->list[number + 1],
		(points->count - number - 1) * sizeof(*points->list));
	points->count--;
}

/* Drops open points that fail the test, the weakest first: adjacent points gain its values. */
static int prune(const struct look *look, struct change_points *points, struct error *error)
{
	size_t open = less(look->begin, look->rule->window / 2);

	for (;;) {
		size_t weakest = points->count;

		for (size_t i = 0; i < points->count; i++) {
			double p;

			if (points->list[i].at < open)
				continue;
			if (chance(&p, look, points, i, error))
				return error->code;
			if (p >= look->rule->level &&
			    (weakest == points->count ||
			     points->list[i].statistic < points->list[weakest].statistic))
				weakest = i;
		}
		if (weakest == points->count)
			return 0;
		drop(points, weakest);
	}
}

static int change_points_add(struct change_points *points, const struct change_point *point,
			     struct error *error)
{
	struct change_point *grown = reallocarray(points->list, points->count + 1, sizeof(*grown));
	size_t place = points->count;

	if (!grown)
		return error_set_errno(error, -ENOMEM, "cannot keep the change points");
	points->list = grown;
	for (; place && grown[place - 1].at > point->at; place--)
		grown[place] = grown[place - 1];
	grown[place] = *point;
	points->count++;
	return 0;
}

/* Overlapping windows may find the same change at slightly different places: keep the clearer. */
static int merge(struct change_points *points, const struct change_point *point,
		 struct error *error)
{
	for (size_t i = 0; i < points->count; i++) {
		struct change_point *other = &points->list[i];
		size_t apart =
			other->at > point->at ? other->at - point->at : point->at - other->at;

		if (apart >= CHANGE_POINTS_LEAST)
			continue;
		if (other->statistic >= point->statistic)
			return 0;
		drop(points, i--);
	}
	return change_points_add(points, point, error);
}

static int look_at(const struct look *look, struct change_points *points, struct error *error)
{
	const struct e_divisive_rule rule = ediv_of(look->rule, look->begin);
	struct e_divisive_division divisions[E_DIVISIVE_MOST];
	double logs[E_DIVISIVE_MOST];
	size_t count = look->end - look->begin;
	size_t n_divisions = 0;
	int code;

	for (size_t i = 0; i < count; i++)
		logs[i] = log(look->values[look->begin + i]);
	code = e_divisive_divide(&rule, logs, count, divisions, &n_divisions, error);
	for (size_t i = 0; i < n_divisions && !code; i++) {
		const struct change_point point = {.at = look->begin + divisions[i].at,
						   .statistic = divisions[i].statistic};

		code = merge(points, &point, error);
	}
	return code ? code : prune(look, points, error);
}

/* Updates medians, except those of final points. */
static void take_all_medians(const struct look *look, struct change_points *points)
{
	size_t open = less(look->begin, WINDOWS_OPEN * look->rule->window);

	for (size_t i = 0; i < points->count; i++)
		if (points->list[i].at >= open)
			take_medians(look, points, i);
}

static int look_at_window(const struct look *look, struct change_points *points,
			  struct error *error)
{
	int code = look_at(look, points, error);

	if (!code)
		take_all_medians(look, points);
	return code;
}

int change_points_find(struct change_points *found, const struct change_points_rule *rule,
		       const double *values, size_t count, struct error *error)
{
	struct look look = {.rule = rule, .values = values};
	int code = 0;

	*found = (struct change_points){0};
	for (; look.begin + rule->window <= count && !code; look.begin += rule->window / 2) {
		look.end = look.begin + rule->window;
		code = look_at_window(&look, found, error);
	}
	/* The newest window is longer, because more values before a change reveal it sooner. */
	look.begin = less(look.begin, rule->window / 2);
	look.end = count;
	if (!code && count)
		code = look_at_window(&look, found, error);
	if (code)
		change_points_finish(found);
	return code;
}

void change_points_finish(struct change_points *points)
{
	free(points->list);
	*points = (struct change_points){0};
}
