/* SPDX-License-Identifier: MIT */
#include "reports/finding/load_knee.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/result/compared_figure.h"

#define P99 990000

size_t load_knee_count(const struct load_knee_point *points, size_t n_points)
{
	size_t count = 0;

	while (count < n_points && !points[count].is_saturated &&
	       points[count].p99_ns <= LOAD_KNEE_TIMES * points[0].p99_ns)
		count++;
	return count;
}

/* NULL: it is one. */
static const char *why_no_point(const struct result_case *line)
{
	if (line->status != RESULT_COMPLETE)
		return result_status_name(line->status);
	if (!line->pace || !line->latency || !line->n_trials)
		return "no latencies";
	return hist_has_quantile(line->latency, P99) ? NULL : "no p99";
}

static bool is_of_curve(const struct result_case *line)
{
	return !strcmp(line->metric, "load") && line->status != RESULT_SKIPPED;
}

/* All that it was told, but for the rate: the same for all points of a curve. */
static char *curve_of(const struct result_case *line)
{
	json_t *others = json_copy(line->parameters);
	char *text;

	json_object_set_new(others, "transport", json_string(line->transport));
	json_object_del(others, "rate");
	text = json_dumps(others, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(others);
	return text;
}

/* The numbers of the cases of each curve. */
static json_t *find_curves(const struct result *result)
{
	json_t *curves = json_object();

	for (size_t i = 0; i < result->n_cases; i++) {
		char *key = is_of_curve(&result->cases[i]) ? curve_of(&result->cases[i]) : NULL;

		if (!key)
			continue;
		if (!json_object_get(curves, key))
			json_object_set_new(curves, key, json_array());
		json_array_append_new(json_object_get(curves, key), json_integer((json_int_t)i));
		free(key);
	}
	return curves;
}

static int compare(const void *one, const void *other)
{
	const struct load_knee_point *a = one;
	const struct load_knee_point *b = other;

	return (a->rate > b->rate) - (a->rate < b->rate);
}

/* One trial that was held up says nothing of the others; all together know more of few messages. */
static struct load_knee_point make_of(const struct result_case *line)
{
	struct load_knee_point point = {
		.rate = pace_rate(line), .is_saturated = pace_is_saturated(line), .line = line};
	struct error ignored = {0};

	compared_figure_over_trials(&point.p99_ns, line, &compared_figure_tail, &ignored);
	point.is_pooled = isnan(point.p99_ns);
	if (point.is_pooled)
		point.p99_ns = hist_quantile(line->latency, P99);
	return point;
}

/* The points of a curve in the order of their rates, and its other cases. */
static struct load_knee_point *find_points(const struct result *result, const json_t *numbers,
					   size_t *n_points, json_t *left_out)
{
	struct load_knee_point *points = calloc(json_array_size(numbers), sizeof(*points));
	const json_t *number;
	size_t i;

	*n_points = 0;
	if (!points)
		return NULL;
	json_array_foreach(numbers, i, number)
	{
		const struct result_case *line = &result->cases[json_integer_value(number)];
		const char *reason = why_no_point(line);

		if (reason)
			json_array_append_new(left_out, json_pack("{s:s, s:s}", "case", line->id,
								  "reason", reason));
		else
			points[(*n_points)++] = make_of(line);
	}
	qsort(points, *n_points, sizeof(*points), compare);
	return points;
}

static void add_knee(struct load_knees *knees, const struct load_knee_point *points,
		     size_t n_points, json_t *left_out)
{
	struct load_knee *knee = &knees->knee[knees->count];
	size_t count;

	if (n_points < LOAD_KNEE_LEAST)
		return;
	count = load_knee_count(points, n_points);
	*knee = (struct load_knee){.lowest = points[0]};
	knee->is_below = !count;
	if (count)
		knee->at = points[count - 1];
	knee->has_beyond = count < n_points;
	if (knee->has_beyond)
		knee->beyond = points[count];
	knee->left_out = json_incref(left_out);
	knees->count++;
}

void load_knees_open(struct load_knees *knees, const struct result *result)
{
	json_t *curves = find_curves(result);
	const char *key;
	json_t *numbers;

	*knees = (struct load_knees){
		.knee = calloc(json_object_size(curves) + 1, sizeof(*knees->knee))};
	json_object_foreach(curves, key, numbers)
	{
		json_t *left_out = json_array();
		struct load_knee_point *points;
		size_t n_points;

		points = find_points(result, numbers, &n_points, left_out);
		if (knees->knee && points)
			add_knee(knees, points, n_points, left_out);
		free(points);
		json_decref(left_out);
	}
	json_decref(curves);
}

void load_knees_close(struct load_knees *knees)
{
	for (size_t i = 0; i < knees->count; i++)
		json_decref(knees->knee[i].left_out);
	free(knees->knee);
	*knees = (struct load_knees){0};
}

void load_knee_tell_left_out(const json_t *left_out, char *text, size_t size)
{
	size_t count = json_array_size(left_out);
	const json_t *first = json_array_get(left_out, 0);
	char others[32] = "";

	if (count > 1)
		snprintf(others, sizeof(others), ", and %zu more", count - 1);
	snprintf(text, size, "; left out: %s (%s)%s",
		 json_string_value(json_object_get(first, "case")),
		 json_string_value(json_object_get(first, "reason")), others);
}

void load_knee_tell(const struct load_knee *knee, char text[static 512])
{
	const struct load_knee_point *at = &knee->at;
	const struct load_knee_point *beyond = &knee->beyond;
	bool is_pooled = at->is_pooled || (knee->has_beyond && beyond->is_pooled);
	const char *of = is_pooled ? "" : " (medians of trials)";
	int used;

	if (knee->is_below)
		used = snprintf(
			text, 512,
			"the knee is below %s: at %.0f msg/s, the lowest rate, the schedule was not "
			"kept",
			beyond->line->id, beyond->rate);
	else if (knee->has_beyond)
		used = snprintf(
			text, 512,
			"knee: %s: %.0f msg/s with a p99 of %.4g us; beyond, %.0f msg/s: %.4g us%s%s",
			at->line->id, at->rate, at->p99_ns / 1e3, beyond->rate,
			beyond->p99_ns / 1e3, beyond->is_saturated ? ", saturated" : "", of);
	else
		used = snprintf(text, 512, "no knee up to %s: %.0f msg/s with a p99 of %.4g us%s",
				at->line->id, at->rate, at->p99_ns / 1e3, of);
	if (json_array_size(knee->left_out) && used < 512)
		load_knee_tell_left_out(knee->left_out, text + used, 512 - (size_t)used);
}

static json_t *make_point(const struct load_knee_point *point)
{
	return json_pack("{s:s, s:f, s:f, s:b}", "case", point->line->id, "rate", point->rate,
			 "p99_ns", point->p99_ns, "saturated", point->is_saturated);
}

static json_t *make_knee(const struct load_knee *knee)
{
	json_t *made = knee->is_below
			       ? json_pack("{s:o}", "below", make_point(&knee->lowest))
			       : json_pack("{s:o, s:o, s:o*}", "lowest", make_point(&knee->lowest),
					   "at", make_point(&knee->at), "beyond",
					   knee->has_beyond ? make_point(&knee->beyond) : NULL);

	if (json_array_size(knee->left_out))
		json_object_set(made, "left_out", knee->left_out);
	return made;
}

json_t *load_knees_make(const struct result *result)
{
	json_t *made = NULL;
	struct load_knees knees;

	load_knees_open(&knees, result);
	if (knees.count)
		made = json_array();
	for (size_t i = 0; i < knees.count; i++)
		json_array_append_new(made, make_knee(&knees.knee[i]));
	load_knees_close(&knees);
	return made;
}
