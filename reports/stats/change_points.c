/* SPDX-License-Identifier: MIT */
#include "reports/stats/change_points.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"
#include "reports/stats/e_divisive.h"
#include "reports/stats/median.h"

/* What may yet be taken back lies in so many windows before the next one, and what that needs. */
#define WINDOWS_OPEN   2
#define WINDOWS_NEEDED 4

const struct change_points_rule change_points_usual = {
	.window = 50, .level = 0.001, .magnitude = 0.03};

bool change_points_is_usual(const struct change_points_rule *rule)
{
	return rule->window == change_points_usual.window &&
	       rule->level >= change_points_usual.level &&
	       rule->level <= change_points_usual.level &&
	       rule->magnitude >= change_points_usual.magnitude &&
	       rule->magnitude <= change_points_usual.magnitude;
}

/* The part of a series that is looked at: [begin, end), with all before it that is needed. */
struct look {
	const struct change_points_rule *rule;
	const struct change_points_values *values;
	size_t begin;
	size_t end;
};

static size_t less(size_t from, size_t by)
{
	return from > by ? from - by : 0;
}

static size_t begin_of(size_t window, const struct change_points_rule *rule)
{
	return window * (rule->window / 2);
}

size_t change_points_need(const struct change_points *steps, const struct change_points_rule *rule)
{
	return less(begin_of(steps->windows, rule), WINDOWS_NEEDED * rule->window);
}

size_t change_points_settled(const struct change_points *steps,
			     const struct change_points_rule *rule)
{
	return steps->windows ? begin_of(steps->windows - 1, rule) + rule->window : 0;
}

static struct e_divisive_rule ediv_of(const struct change_points_rule *rule, size_t seed)
{
	return (struct e_divisive_rule){CHANGE_POINTS_LEAST, rule->level,
					e_divisive_shuffles(rule->level), seed};
}

static double value_at(const struct look *look, size_t number)
{
	return look->values->values[number - look->values->first];
}

/* Of [from, to), a window's length of values at the most. */
static double median(const struct look *look, size_t from, size_t to)
{
	double sorted[CHANGE_POINTS_WINDOW_MOST];
	size_t count = to - from;

	for (size_t i = 0; i < count; i++)
		sorted[i] = value_at(look, from + i);
	median_sort(sorted, count);
	return median_of_sorted(sorted, count);
}

/* Where the values that are alike on both sides of a step begin and end. */
static void find_sides(const struct look *look, const struct change_points *steps, size_t number,
		       size_t *from, size_t *to)
{
	size_t at = steps->list[number].at;
	size_t window = look->rule->window;
	size_t before = number ? steps->list[number - 1].at : 0;
	size_t next = number + 1 < steps->count ? steps->list[number + 1].at : look->end;

	*from = less(at, window) > before ? less(at, window) : before;
	*to = at + window < next ? at + window : next;
}

static void take_medians(const struct look *look, struct change_points *steps, size_t number)
{
	size_t from;
	size_t to;

	find_sides(look, steps, number, &from, &to);
	steps->list[number].before = median(look, from, steps->list[number].at);
	steps->list[number].after = median(look, steps->list[number].at, to);
}

/* The chance of a step between the values on its sides; 1: there is none. */
static int chance(double *p, const struct look *look, struct change_points *steps, size_t number,
		  struct error *error)
{
	const struct change_point *step = &steps->list[number];
	const struct e_divisive_rule rule = ediv_of(look->rule, step->at);
	double logs[2 * CHANGE_POINTS_WINDOW_MOST];
	size_t from;
	size_t to;

	*p = 1;
	take_medians(look, steps, number);
	if (fabs(log(step->after / step->before)) < log1p(look->rule->magnitude))
		return 0;
	find_sides(look, steps, number, &from, &to);
	for (size_t i = from; i < to; i++)
		logs[i - from] = log(value_at(look, i));
	if (e_divisive_compare(p, &rule, logs, step->at - from, to - from))
		return error_set_errno(error, -ENOMEM, "cannot look for steps");
	return 0;
}

static void drop(struct change_points *steps, size_t number)
{
	memmove(&steps->list[number], &steps->list[number + 1],
		(steps->count - number - 1) * sizeof(*steps->list));
	steps->count--;
}

/* Those that are still open and are none, the least first: its neighbours gain its values. */
static int prune(const struct look *look, struct change_points *steps, struct error *error)
{
	size_t open = less(look->begin, look->rule->window / 2);

	for (;;) {
		size_t weakest = steps->count;

		for (size_t i = 0; i < steps->count; i++) {
			double p;

			if (steps->list[i].at < open)
				continue;
			if (chance(&p, look, steps, i, error))
				return error->code;
			if (p >= look->rule->level &&
			    (weakest == steps->count ||
			     steps->list[i].statistic < steps->list[weakest].statistic))
				weakest = i;
		}
		if (weakest == steps->count)
			return 0;
		drop(steps, weakest);
	}
}

int change_points_add(struct change_points *steps, const struct change_point *step,
		      struct error *error)
{
	struct change_point *grown = reallocarray(steps->list, steps->count + 1, sizeof(*grown));
	size_t place = steps->count;

	if (!grown)
		return error_set_errno(error, -ENOMEM, "cannot keep the steps");
	steps->list = grown;
	for (; place && grown[place - 1].at > step->at; place--)
		grown[place] = grown[place - 1];
	grown[place] = *step;
	steps->count++;
	return 0;
}

/* Two windows see one step at neighbouring places: the clearer one is it. */
static int merge(struct change_points *steps, const struct change_point *step, struct error *error)
{
	for (size_t i = 0; i < steps->count; i++) {
		struct change_point *other = &steps->list[i];
		size_t apart = other->at > step->at ? other->at - step->at : step->at - other->at;

		if (apart >= CHANGE_POINTS_LEAST)
			continue;
		if (other->statistic >= step->statistic)
			return 0;
		drop(steps, i--);
	}
	return change_points_add(steps, step, error);
}

static int look_at(const struct look *look, struct change_points *steps, struct error *error)
{
	const struct e_divisive_rule rule = ediv_of(look->rule, look->begin);
	struct e_divisive_division divisions[E_DIVISIVE_MOST];
	double logs[E_DIVISIVE_MOST];
	size_t count = look->end - look->begin;
	size_t n_divisions = 0;
	int code;

	for (size_t i = 0; i < count; i++)
		logs[i] = log(value_at(look, look->begin + i));
	code = e_divisive_divide(&rule, logs, count, divisions, &n_divisions, error);
	for (size_t i = 0; i < n_divisions && !code; i++) {
		const struct change_point step = {.at = look->begin + divisions[i].at,
						  .statistic = divisions[i].statistic};

		code = merge(steps, &step, error);
	}
	return code ? code : prune(look, steps, error);
}

/* Of what is no longer open nothing changes, nor of its sides. */
static void take_all_medians(const struct look *look, struct change_points *steps)
{
	size_t open = less(look->begin, WINDOWS_OPEN * look->rule->window);

	for (size_t i = 0; i < steps->count; i++)
		if (steps->list[i].at >= open)
			take_medians(look, steps, i);
}

static int change_points_check(const struct change_points *steps,
			       const struct change_points_rule *rule,
			       const struct change_points_values *values, struct error *error)
{
	if (values->first <= change_points_need(steps, rule))
		return 0;
	return error_set(error, -EINVAL, "values before number %zu are needed", values->first);
}

int change_points_settle(struct change_points *steps, const struct change_points_rule *rule,
			 const struct change_points_values *values, struct error *error)
{
	int code = change_points_check(steps, rule, values, error);

	while (!code && begin_of(steps->windows, rule) + rule->window <= values->end) {
		size_t begin = begin_of(steps->windows, rule);
		const struct look look = {rule, values, begin, begin + rule->window};

		code = look_at(&look, steps, error);
		if (code)
			break;
		take_all_medians(&look, steps);
		steps->windows++;
	}
	return code;
}

int change_points_find(struct change_points *found, const struct change_points *settled,
		       const struct change_points_rule *rule,
		       const struct change_points_values *values, struct error *error)
{
	/* The more is before a step the sooner it is one: the newest window is longer. */
	size_t begin = less(begin_of(settled->windows, rule), rule->window / 2);
	const struct look look = {rule, values, begin, values->end};
	int code = change_points_check(settled, rule, values, error);

	*found = (struct change_points){.windows = settled->windows};
	for (size_t i = 0; i < settled->count && !code; i++)
		code = change_points_add(found, &settled->list[i], error);
	if (!code && look.end > look.begin)
		code = look_at(&look, found, error);
	if (!code && look.end > look.begin)
		take_all_medians(&look, found);
	if (code)
		change_points_finish(found);
	return code;
}

void change_points_finish(struct change_points *steps)
{
	free(steps->list);
	*steps = (struct change_points){0};
}
