/* SPDX-License-Identifier: MIT */
#include "reports/finding/load_knee.h"

#include <math.h>
#include <string.h>

#include "reports/result/compared_figure.h"

#define P99 990000

size_t load_knee_count(const struct curve_point *points, size_t n_points)
{
	size_t count = 0;

	while (count < n_points && !points[count].is_saturated &&
	       points[count].y <= LOAD_KNEE_TIMES * points[0].y)
		count++;
	return count;
}

/* Names a curve by all parameters except the rate. */
static char *name_curve(const struct result_case *line)
{
	json_t *others;
	char *text;

	if (strcmp(line->metric, "load") != 0 || line->status == RESULT_SKIPPED)
		return NULL;
	others = json_copy(line->parameters);
	json_object_set_new(others, "transport", json_string(line->transport));
	json_object_del(others, "rate");
	text = json_dumps(others, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(others);
	return text;
}

/* The median over trials ignores a single stalled trial; short trials have only a pooled p99. */
static const char *measure(struct curve_point *point, const struct result_case *line)
{
	struct error ignored = {0};

	if (!line->pace || !line->latency || !line->n_trials)
		return "no latencies";
	if (!hist_has_quantile(line->latency, P99))
		return "no p99";
	point->x = pace_rate(line);
	point->is_saturated = pace_is_saturated(line);
	compared_figure_over_trials(&point->y, line, &compared_figure_tail, &ignored);
	point->is_pooled = isnan(point->y);
	if (point->is_pooled)
		point->y = hist_quantile(line->latency, P99);
	return NULL;
}

static int describe(const struct curve *curve, char text[static CURVE_TEXT])
{
	const struct curve_point *at = &curve->at;
	const struct curve_point *beyond = &curve->beyond;
	bool is_pooled = at->is_pooled || (curve->has_beyond && beyond->is_pooled);
	const char *of = is_pooled ? "" : " (medians of trials)";

	if (curve->is_below)
		return snprintf(
			text, CURVE_TEXT,
			"the knee is below %s: the lowest rate, %.0f msg/s, was already saturated",
			beyond->line->id, beyond->x);
	if (curve->has_beyond)
		return snprintf(text, CURVE_TEXT,
				"knee: %s: %.0f msg/s with a p99 of %.4g us; above it, %.0f msg/s: "
				"%.4g us%s%s",
				at->line->id, at->x, at->y / 1e3, beyond->x, beyond->y / 1e3,
				beyond->is_saturated ? ", saturated" : "", of);
	return snprintf(text, CURVE_TEXT, "no knee up to %s: %.0f msg/s with a p99 of %.4g us%s",
			at->line->id, at->x, at->y / 1e3, of);
}

static json_t *make_point(const struct curve_point *point)
{
	return json_pack("{s:s, s:f, s:f, s:b}", "case", point->line->id, "rate", point->x,
			 "p99_ns", point->y, "saturated", point->is_saturated);
}

static json_t *make(const struct curve *curve)
{
	if (curve->is_below)
		return json_pack("{s:o}", "below", make_point(&curve->lowest));
	return json_pack("{s:o, s:o, s:o*}", "lowest", make_point(&curve->lowest), "at",
			 make_point(&curve->at), "beyond",
			 curve->has_beyond ? make_point(&curve->beyond) : NULL);
}

const struct curve_kind load_knee_kind = {name_curve, measure, load_knee_count, describe, make};

json_t *load_knees_make(const struct result *result)
{
	return curves_make(result, &load_knee_kind);
}
