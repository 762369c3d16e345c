/* SPDX-License-Identifier: MIT */
#include "reports/finding/qp_limit.h"

#include <inttypes.h>
#include <string.h>

#include "reports/result/trials.h"

static bool is_low_from(const struct curve_point *points, size_t first, size_t n_points,
			double best)
{
	for (size_t i = first; i < n_points; i++)
		if (points[i].y >= QP_LIMIT_FALL * best)
			return false;
	return true;
}

size_t qp_limit_count(const struct curve_point *points, size_t n_points)
{
	double best = 0;
	size_t count = 0;

	while (count < n_points && !is_low_from(points, count, n_points, best)) {
		if (points[count].y > best)
			best = points[count].y;
		count++;
	}
	return count;
}

static uint64_t parameter(const struct result_case *line, const char *name)
{
	return (uint64_t)json_integer_value(json_object_get(line->parameters, name));
}

/*
 * Names a curve by the id without the number of queue pairs, plus the depths: they may have been
 * derived rather than requested, and they affect the rate as much.
 */
static char *name_curve(const struct result_case *line)
{
	char id[sizeof(line->id)];
	char number[32];
	char *name;
	char *found;

	if (strcmp(line->metric, "bw") != 0 || !parameter(line, "qps"))
		return NULL;
	snprintf(id, sizeof(id), "%s", line->id);
	snprintf(number, sizeof(number), "/q%" PRIu64, parameter(line, "qps"));
	found = strstr(id, number);
	if (found && (found[strlen(number)] == '/' || !found[strlen(number)]))
		memmove(found, found + strlen(number), strlen(found + strlen(number)) + 1);
	return asprintf(&name, "%s %" PRIu64 " %" PRIu64 " %" PRIu64, id,
			parameter(line, "tx-depth"), parameter(line, "rx-depth"),
			parameter(line, "cq-mod")) < 0
		       ? NULL
		       : name;
}

/* The median over trials ignores a single stalled trial. */
static const char *measure(struct curve_point *point, const struct result_case *line)
{
	uint64_t threads = parameter(line, "threads");
	struct interval interval;
	struct error ignored = {0};

	if (!line->n_trials || !line->messages)
		return "no messages";
	if (trials_interval(&interval, line, &line->trials->messages_per_s, &ignored) ||
	    !(interval.median > 0))
		return "no rate";
	point->x = (double)(parameter(line, "qps") * (threads ? threads : 1));
	point->y = interval.median;
	return NULL;
}

static int describe(const struct curve *curve, char text[static CURVE_TEXT])
{
	const struct curve_point *at = &curve->at;

	if (curve->has_beyond)
		return snprintf(text, CURVE_TEXT,
				"knee: %s: %.4g Mmsg/s; above it, %.0f queue pairs: %.4g Mmsg/s; "
				"best: %.4g (medians of trials)",
				at->line->id, at->y / 1e6, curve->beyond.x, curve->beyond.y / 1e6,
				curve->best.y / 1e6);
	return snprintf(text, CURVE_TEXT,
			"no knee up to %s: %.4g Mmsg/s; best: %.4g (medians of trials)",
			at->line->id, at->y / 1e6, curve->best.y / 1e6);
}

static json_t *make_point(const struct curve_point *point)
{
	return json_pack("{s:s, s:I, s:f}", "case", point->line->id, "queue_pairs",
			 (json_int_t)point->x, "messages_per_s", point->y);
}

static json_t *make(const struct curve *curve)
{
	return json_pack("{s:o, s:o, s:o*}", "best", make_point(&curve->best), "at",
			 make_point(&curve->at), "beyond",
			 curve->has_beyond ? make_point(&curve->beyond) : NULL);
}

const struct curve_kind qp_limit_kind = {name_curve, measure, qp_limit_count, describe, make};

json_t *qp_limits_make(const struct result *result)
{
	return curves_make(result, &qp_limit_kind);
}
