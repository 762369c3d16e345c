/* SPDX-License-Identifier: MIT */
#include "reports/finding/curve.h"

#include <stdlib.h>

/* Returns the case numbers of each curve, by curve name. */
static json_t *find_cases(const struct result *result, const struct curve_kind *kind)
{
	json_t *found = json_object();

	for (size_t i = 0; i < result->n_cases; i++) {
		char *name = kind->name(&result->cases[i]);

		if (!name)
			continue;
		if (!json_object_get(found, name))
			json_object_set_new(found, name, json_array());
		json_array_append_new(json_object_get(found, name), json_integer((json_int_t)i));
		free(name);
	}
	return found;
}

static int compare(const void *one, const void *other)
{
	const struct curve_point *a = one;
	const struct curve_point *b = other;

	return (a->x > b->x) - (a->x < b->x);
}

/* Fills points with the measured cases, sorted by x, and left_out with the others. */
static size_t find_points(struct curve_point *points, json_t *left_out, const struct result *result,
			  const json_t *numbers, const struct curve_kind *kind)
{
	size_t n_points = 0;
	const json_t *number;
	size_t i;

	json_array_foreach(numbers, i, number)
	{
		const struct result_case *line = &result->cases[json_integer_value(number)];
		struct curve_point point = {.line = line};
		const char *reason = line->status == RESULT_COMPLETE
					     ? kind->measure(&point, line)
					     : result_status_name(line->status);

		if (reason)
			json_array_append_new(left_out, json_pack("{s:s, s:s}", "case", line->id,
								  "reason", reason));
		else
			points[n_points++] = point;
	}
	qsort(points, n_points, sizeof(*points), compare);
	return n_points;
}

static void add_curve(struct curves *curves, const struct curve_point *points, size_t n_points,
		      json_t *left_out, const struct curve_kind *kind)
{
	size_t count = kind->count(points, n_points);
	struct curve *curve = &curves->curve[curves->count++];

	*curve = (struct curve){.lowest = points[0],
				.is_below = !count,
				.has_beyond = count < n_points,
				.left_out = json_incref(left_out)};
	for (size_t i = 0; i < count; i++)
		if (!i || points[i].y > curve->best.y)
			curve->best = points[i];
	if (count)
		curve->at = points[count - 1];
	if (curve->has_beyond)
		curve->beyond = points[count];
}

void curves_open(struct curves *curves, const struct result *result, const struct curve_kind *kind)
{
	json_t *found = find_cases(result, kind);
	struct curve_point *points = calloc(result->n_cases + 1, sizeof(*points));
	const char *name;
	json_t *numbers;

	*curves = (struct curves){
		.curve = calloc(json_object_size(found) + 1, sizeof(*curves->curve))};
	json_object_foreach(found, name, numbers)
	{
		json_t *left_out = json_array();
		size_t n_points = 0;

		if (points && curves->curve)
			n_points = find_points(points, left_out, result, numbers, kind);
		if (n_points >= CURVE_LEAST)
			add_curve(curves, points, n_points, left_out, kind);
		json_decref(left_out);
	}
	free(points);
	json_decref(found);
}

void curves_close(struct curves *curves)
{
	for (size_t i = 0; i < curves->count; i++)
		json_decref(curves->curve[i].left_out);
	free(curves->curve);
	*curves = (struct curves){0};
}

void curve_tell(const struct curve *curve, const struct curve_kind *kind,
		char text[static CURVE_TEXT])
{
	size_t count = json_array_size(curve->left_out);
	const json_t *first = json_array_get(curve->left_out, 0);
	int used = kind->describe(curve, text);
	char others[32] = "";

	if (!count || used >= CURVE_TEXT)
		return;
	if (count > 1)
		snprintf(others, sizeof(others), ", and %zu more", count - 1);
	snprintf(text + used, CURVE_TEXT - (size_t)used, "; omitted: %s (%s)%s",
		 json_string_value(json_object_get(first, "case")),
		 json_string_value(json_object_get(first, "reason")), others);
}

json_t *curves_make(const struct result *result, const struct curve_kind *kind)
{
	json_t *made = NULL;
	struct curves curves;

	curves_open(&curves, result, kind);
	if (curves.count)
		made = json_array();
	for (size_t i = 0; i < curves.count; i++) {
		json_t *curve = kind->make(&curves.curve[i]);

		if (json_array_size(curves.curve[i].left_out))
			json_object_set(curve, "left_out", curves.curve[i].left_out);
		json_array_append_new(made, curve);
	}
	curves_close(&curves);
	return made;
}
