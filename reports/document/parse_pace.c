/* SPDX-License-Identifier: MIT */
#include "reports/document/parse_pace.h"

#include <errno.h>
#include <stdlib.h>

#include "reports/document/restore.h"
#include "reports/io/json_member.h"

static int parse_maximum(struct pace *pace, const json_t *load, struct error *error)
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

static int parse_hist(struct hist *hist, const json_t *load, const char *name, struct error *error)
{
	json_t *object;
	int code = json_member_object(load, name, &object, error);

	if (!code)
		code = restore_hist(hist, object, error);
	if (code)
		error_wrap(error, "%s", name);
	return code;
}

/* Checks that the case is consistent with its trials. */
static int check_pace(const struct result_case *line, const json_t *json, struct error *error)
{
	bool is_saturated;

	if (json_member_flag(json, "saturated", &is_saturated, error))
		return -EINVAL;
	if (is_saturated != pace_is_saturated(line))
		return error_set(error, -EINVAL, "\"saturated\" contradicts the trials");
	if (line->pace->lag.count != line->messages ||
	    line->pace->uncorrected.count != line->messages)
		return error_set(error, -EINVAL, "numbers of lags and messages differ");
	return 0;
}

int parse_pace(struct result_case *line, const json_t *json, struct error *error)
{
	json_t *load;
	int code = json_member_object(json, "load", &load, error);

	if (code)
		return code;
	line->pace = calloc(1, sizeof(*line->pace));
	if (!line->pace)
		return error_set_errno(error, -ENOMEM, "cannot keep histograms");
	code = parse_maximum(line->pace, load, error);
	if (!code)
		code = parse_hist(&line->pace->lag, load, "lag_ns", error);
	if (!code)
		code = parse_hist(&line->pace->uncorrected, load, "uncorrected_ns", error);
	if (!code)
		code = check_pace(line, json, error);
	if (code)
		error_wrap(error, "load");
	return code;
}

int parse_pace_trial(struct pace_trial *trial, const json_t *json, struct error *error)
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
