/* SPDX-License-Identifier: MIT */
#include "reports/result/pace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reports/document/restore.h"
#include "reports/io/json_member.h"
#include "reports/result/result.h"

static bool has_same_maximum(const struct pace *one, const struct pace *other)
{
	return !strcmp(one->maximum_case, other->maximum_case) && one->maximum <= other->maximum &&
	       one->maximum >= other->maximum;
}

static int take_first(struct result_case *line, const struct pace *seen, struct error *error)
{
	line->pace = malloc(sizeof(*line->pace));
	if (!line->pace)
		return error_set_errno(error, -ENOMEM, "cannot keep the results");
	*line->pace = *seen;
	return 0;
}

int pace_add(struct result_case *line, const struct pace *seen, struct error *error)
{
	struct pace *pace = line->pace;

	if (!pace)
		return take_first(line, seen, error);
	hist_merge(&pace->lag, &seen->lag);
	hist_merge(&pace->uncorrected, &seen->uncorrected);
	if (!has_same_maximum(pace, seen)) {
		pace->maximum_case[0] = '\0';
		pace->maximum = 0;
	}
	return 0;
}

double pace_rate(const struct result_case *line)
{
	double sum = 0;

	for (size_t i = 0; i < line->n_trials; i++)
		sum += line->trials[i].pace.rate;
	return sum / (double)line->n_trials;
}

double pace_got(const struct result_case *line)
{
	return (double)line->messages * 1e9 / (double)line->duration_ns;
}

uint64_t pace_unsent(const struct result_case *line)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < line->n_trials; i++)
		sum += line->trials[i].pace.unsent;
	return sum;
}

bool pace_is_saturated(const struct result_case *line)
{
	size_t count = 0;

	for (size_t i = 0; i < line->n_trials; i++)
		count += line->trials[i].pace.is_saturated;
	return count && 2 * count >= line->n_trials;
}

static int load_maximum(struct pace *pace, const json_t *load, struct error *error)
{
	json_t *maximum;

	if (!json_object_get(load, "maximum"))
		return 0;
	if (json_member_object(load, "maximum", &maximum, error) ||
	    json_member_text(maximum, "case", pace->maximum_case, sizeof(pace->maximum_case),
			     error))
		return -EINVAL;
	return json_member_figure(maximum, "messages_per_s", &pace->maximum, error);
}

static int load_hist(struct hist *hist, const json_t *load, const char *name, struct error *error)
{
	json_t *object;
	int code = json_member_object(load, name, &object, error);

	if (!code)
		code = restore_hist(hist, object, error);
	if (code)
		error_wrap(error, "%s", name);
	return code;
}

/* What its trials say as well. */
static int pace_check(const struct result_case *line, const json_t *json, struct error *error)
{
	bool is_saturated;

	if (json_member_flag(json, "saturated", &is_saturated, error))
		return -EINVAL;
	if (is_saturated != pace_is_saturated(line))
		return error_set(error, -EINVAL, "\"saturated\" is not what its trials say");
	if (line->pace->lag.count != line->messages ||
	    line->pace->uncorrected.count != line->messages)
		return error_set(error, -EINVAL, "lags and messages are not as many");
	return 0;
}

int pace_load(struct result_case *line, const json_t *json, struct error *error)
{
	json_t *load;
	int code = json_member_object(json, "load", &load, error);

	if (code)
		return code;
	line->pace = calloc(1, sizeof(*line->pace));
	if (!line->pace)
		return error_set_errno(error, -ENOMEM, "cannot keep histograms");
	code = load_maximum(line->pace, load, error);
	if (!code)
		code = load_hist(&line->pace->lag, load, "lag_ns", error);
	if (!code)
		code = load_hist(&line->pace->uncorrected, load, "uncorrected_ns", error);
	if (!code)
		code = pace_check(line, json, error);
	if (code)
		error_wrap(error, "load");
	return code;
}

int pace_load_trial(struct pace_trial *trial, const json_t *json, struct error *error)
{
	json_t *load;

	if (json_member_object(json, "load", &load, error) ||
	    json_member_figure(load, "rate", &trial->rate, error) ||
	    json_member_count(load, "unsent", &trial->unsent, error))
		return -EINVAL;
	if (!(trial->rate > 0))
		return error_set(error, -EINVAL, "\"rate\" is 0");
	return json_member_flag(load, "saturated", &trial->is_saturated, error);
}
