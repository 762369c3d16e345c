/* SPDX-License-Identifier: MIT */
#include "reports/finding/qp_limit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "reports/finding/load_knee.h"
#include "reports/result/trials.h"

#define NAME_SIZE (CASE_ID + 64)

static bool is_low_from(const struct qp_limit_point *points, size_t first, size_t n_points,
			double best)
{
	for (size_t i = first; i < n_points; i++)
		if (points[i].rate >= QP_LIMIT_FALL * best)
			return false;
	return true;
}

size_t qp_limit_count(const struct qp_limit_point *points, size_t n_points)
{
	double best = 0;
	size_t count = 0;

	while (count < n_points && !is_low_from(points, count, n_points, best)) {
		if (points[count].rate > best)
			best = points[count].rate;
		count++;
	}
	return count;
}

static uint64_t parameter(const struct result_case *line, const char *name)
{
	return (uint64_t)json_integer_value(json_object_get(line->parameters, name));
}

static bool is_of_crowd(const struct result_case *line)
{
	return !strcmp(line->metric, "bw") && parameter(line, "qps");
}

/* NULL: it is one. */
static const char *why_no_point(const struct result_case *line)
{
	if (line->status != RESULT_COMPLETE)
		return result_status_name(line->status);
	return line->n_trials && line->messages ? NULL : "no messages";
}

/*
 * Its id without the number, and the depths that it had: nobody may have asked for them, and
 * they make as much of a difference.
 */
static void name_crowd(const struct result_case *line, char name[static NAME_SIZE])
{
	char id[sizeof(line->id)];
	char number[32];
	char *found;

	snprintf(id, sizeof(id), "%s", line->id);
	snprintf(number, sizeof(number), "/q%" PRIu64, parameter(line, "qps"));
	found = strstr(id, number);
	if (found && (found[strlen(number)] == '/' || !found[strlen(number)]))
		memmove(found, found + strlen(number), strlen(found + strlen(number)) + 1);
	snprintf(name, NAME_SIZE, "%s %" PRIu64 " %" PRIu64 " %" PRIu64, id,
		 parameter(line, "tx-depth"), parameter(line, "rx-depth"),
		 parameter(line, "cq-mod"));
}

/* The numbers of the cases of each. */
static json_t *find_crowds(const struct result *result)
{
	json_t *found = json_object();

	for (size_t i = 0; i < result->n_cases; i++) {
		char name[NAME_SIZE];

		if (!is_of_crowd(&result->cases[i]))
			continue;
		name_crowd(&result->cases[i], name);
		if (!json_object_get(found, name))
			json_object_set_new(found, name, json_array());
		json_array_append_new(json_object_get(found, name), json_integer((json_int_t)i));
	}
	return found;
}

static int compare(const void *one, const void *other)
{
	const struct qp_limit_point *a = one;
	const struct qp_limit_point *b = other;

	return (a->queue_pairs > b->queue_pairs) - (a->queue_pairs < b->queue_pairs);
}

/* One trial that was held up says nothing of the others. */
static double median_rate(const struct result_case *line)
{
	struct interval interval;
	struct error ignored = {0};

	return trials_interval(&interval, line, &line->trials->messages_per_s, &ignored)
		       ? 0
		       : interval.median;
}

static struct qp_limit_point make_of(const struct result_case *line)
{
	uint64_t threads = parameter(line, "threads");

	return (struct qp_limit_point){.queue_pairs =
					       parameter(line, "qps") * (threads ? threads : 1),
				       .rate = median_rate(line),
				       .line = line};
}

/* The points in the order of their numbers, and the other cases. */
static struct qp_limit_point *find_points(const struct result *result, const json_t *numbers,
					  size_t *n_points, json_t *left_out)
{
	struct qp_limit_point *points = calloc(json_array_size(numbers), sizeof(*points));
	const json_t *number;
	size_t i;

	*n_points = 0;
	if (!points)
		return NULL;
	json_array_foreach(numbers, i, number)
	{
		const struct result_case *line = &result->cases[json_integer_value(number)];
		const char *reason = why_no_point(line);
		struct qp_limit_point point = reason ? (struct qp_limit_point){0} : make_of(line);

		if (!reason && !(point.rate > 0))
			reason = "no rate";
		if (reason)
			json_array_append_new(left_out, json_pack("{s:s, s:s}", "case", line->id,
								  "reason", reason));
		else
			points[(*n_points)++] = point;
	}
	qsort(points, *n_points, sizeof(*points), compare);
	return points;
}

static void add_crowd(struct qp_limits *crowds, const struct qp_limit_point *points,
		      size_t n_points, json_t *left_out)
{
	struct qp_limit *crowd = &crowds->crowd[crowds->count];
	size_t count = n_points < QP_LIMIT_LEAST ? 0 : qp_limit_count(points, n_points);

	if (!count)
		return;
	*crowd = (struct qp_limit){.best = points[0], .at = points[count - 1]};
	for (size_t i = 1; i < count; i++)
		if (points[i].rate > crowd->best.rate)
			crowd->best = points[i];
	crowd->has_beyond = count < n_points;
	if (crowd->has_beyond)
		crowd->beyond = points[count];
	crowd->left_out = json_incref(left_out);
	crowds->count++;
}

void qp_limits_open(struct qp_limits *crowds, const struct result *result)
{
	json_t *found = find_crowds(result);
	const char *name;
	json_t *numbers;

	*crowds = (struct qp_limits){
		.crowd = calloc(json_object_size(found) + 1, sizeof(*crowds->crowd))};
	json_object_foreach(found, name, numbers)
	{
		json_t *left_out = json_array();
		size_t n_points;
		struct qp_limit_point *points = find_points(result, numbers, &n_points, left_out);

		if (crowds->crowd && points)
			add_crowd(crowds, points, n_points, left_out);
		free(points);
		json_decref(left_out);
	}
	json_decref(found);
}

void qp_limits_close(struct qp_limits *crowds)
{
	for (size_t i = 0; i < crowds->count; i++)
		json_decref(crowds->crowd[i].left_out);
	free(crowds->crowd);
	*crowds = (struct qp_limits){0};
}

void qp_limit_tell(const struct qp_limit *crowd, char text[static 512])
{
	const struct qp_limit_point *at = &crowd->at;
	int used;

	if (crowd->has_beyond)
		used = snprintf(text, 512,
				"knee: %s: %.4g Mmsg/s; beyond, %" PRIu64
				" queue pairs: %.4g Mmsg/s; the best: %.4g (medians of trials)",
				at->line->id, at->rate / 1e6, crowd->beyond.queue_pairs,
				crowd->beyond.rate / 1e6, crowd->best.rate / 1e6);
	else
		used = snprintf(text, 512,
				"no knee up to %s: %.4g Mmsg/s; the best: %.4g (medians of trials)",
				at->line->id, at->rate / 1e6, crowd->best.rate / 1e6);
	if (json_array_size(crowd->left_out) && used < 512)
		load_knee_tell_left_out(crowd->left_out, text + used, 512 - (size_t)used);
}

static json_t *make_point(const struct qp_limit_point *point)
{
	return json_pack("{s:s, s:I, s:f}", "case", point->line->id, "queue_pairs",
			 (json_int_t)point->queue_pairs, "messages_per_s", point->rate);
}

json_t *qp_limits_make(const struct result *result)
{
	json_t *made = NULL;
	struct qp_limits crowds;

	qp_limits_open(&crowds, result);
	if (crowds.count)
		made = json_array();
	for (size_t i = 0; i < crowds.count; i++) {
		const struct qp_limit *crowd = &crowds.crowd[i];

		json_array_append_new(
			made,
			json_pack("{s:o, s:o, s:o*, s:O*}", "best", make_point(&crowd->best), "at",
				  make_point(&crowd->at), "beyond",
				  crowd->has_beyond ? make_point(&crowd->beyond) : NULL, "left_out",
				  json_array_size(crowd->left_out) ? crowd->left_out : NULL));
	}
	qp_limits_close(&crowds);
	return made;
}
