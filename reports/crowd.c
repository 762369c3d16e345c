/* SPDX-License-Identifier: MIT */
#include "reports/crowd.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool is_low_from(const struct crowd_point *points, size_t first, size_t n_points,
			double best)
{
	for (size_t i = first; i < n_points; i++)
		if (points[i].rate >= CROWD_FALL * best)
			return false;
	return true;
}

size_t crowd_count(const struct crowd_point *points, size_t n_points)
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

static uint64_t queue_pairs(const struct result_case *line)
{
	return (uint64_t)json_integer_value(json_object_get(line->parameters, "qps"));
}

static bool is_point(const struct result_case *line)
{
	return !strcmp(line->metric, "bw") && line->status == RESULT_COMPLETE && line->n_trials &&
	       line->duration_ns && queue_pairs(line);
}

/* Its id without the number, which says all that was asked for: depths go by the number. */
static void name_crowd(const struct result_case *line, char name[static sizeof(line->id)])
{
	char number[32];
	char *found;

	snprintf(name, sizeof(line->id), "%s", line->id);
	snprintf(number, sizeof(number), "/q%" PRIu64, queue_pairs(line));
	found = strstr(name, number);
	if (found && (found[strlen(number)] == '/' || !found[strlen(number)]))
		memmove(found, found + strlen(number), strlen(found + strlen(number)) + 1);
}

/* The numbers of the cases of each. */
static json_t *find_crowds(const struct result *result)
{
	json_t *found = json_object();

	for (size_t i = 0; i < result->n_cases; i++) {
		char name[sizeof(result->cases[i].id)];

		if (!is_point(&result->cases[i]))
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
	const struct crowd_point *a = one;
	const struct crowd_point *b = other;

	return (a->qps > b->qps) - (a->qps < b->qps);
}

static void add_crowd(struct crowds *crowds, const struct result *result, const json_t *numbers)
{
	size_t n_points = json_array_size(numbers);
	struct crowd_point *points = calloc(n_points, sizeof(*points));
	struct crowd *crowd = &crowds->crowd[crowds->count];
	size_t count;

	for (size_t i = 0; i < n_points && points; i++) {
		const struct result_case *line =
			&result->cases[json_integer_value(json_array_get(numbers, i))];
		double seconds = (double)line->duration_ns / 1e9;

		points[i] = (struct crowd_point){.qps = queue_pairs(line),
						 .rate = (double)line->messages / seconds,
						 .line = line};
	}
	if (points) {
		qsort(points, n_points, sizeof(*points), compare);
		count = crowd_count(points, n_points);
		*crowd = (struct crowd){.fewest = points[0],
					.at = points[count ? count - 1 : 0],
					.has_beyond = count < n_points};
		if (crowd->has_beyond)
			crowd->beyond = points[count];
		crowds->count += count > 0;
	}
	free(points);
}

void crowds_open(struct crowds *crowds, const struct result *result)
{
	json_t *found = find_crowds(result);
	const char *name;
	json_t *numbers;

	*crowds = (struct crowds){
		.crowd = calloc(json_object_size(found) + 1, sizeof(*crowds->crowd))};
	json_object_foreach(found, name, numbers)
	{
		if (crowds->crowd && json_array_size(numbers) >= CROWD_LEAST)
			add_crowd(crowds, result, numbers);
	}
	json_decref(found);
}

void crowds_close(struct crowds *crowds)
{
	free(crowds->crowd);
	*crowds = (struct crowds){0};
}

void crowd_tell(const struct crowd *crowd, char text[static 512])
{
	const struct crowd_point *at = &crowd->at;

	if (crowd->has_beyond)
		snprintf(text, 512,
			 "knee: %s: %.4g Mmsg/s; beyond, %" PRIu64 " queue pairs: %.4g Mmsg/s",
			 at->line->id, at->rate / 1e6, crowd->beyond.qps, crowd->beyond.rate / 1e6);
	else
		snprintf(text, 512, "no knee up to %s: %.4g Mmsg/s", at->line->id, at->rate / 1e6);
}

static json_t *make_point(const struct crowd_point *point)
{
	return json_pack("{s:s, s:I, s:f}", "case", point->line->id, "queue_pairs",
			 (json_int_t)point->qps, "messages_per_s", point->rate);
}

json_t *crowds_make(const struct result *result)
{
	json_t *made = NULL;
	struct crowds crowds;

	crowds_open(&crowds, result);
	if (crowds.count)
		made = json_array();
	for (size_t i = 0; i < crowds.count; i++) {
		const struct crowd *crowd = &crowds.crowd[i];

		json_array_append_new(
			made, json_pack("{s:o, s:o, s:o*}", "fewest", make_point(&crowd->fewest),
					"at", make_point(&crowd->at), "beyond",
					crowd->has_beyond ? make_point(&crowd->beyond) : NULL));
	}
	crowds_close(&crowds);
	return made;
}
