/* SPDX-License-Identifier: MIT */
#include "reports/document/parse_breakdown.h"

#include <errno.h>
#include <stdlib.h>

#include "reports/document/restore.h"
#include "reports/io/json_member.h"

static int parse_part(struct hist *hist, const json_t *parts, const char *name, uint64_t count,
		      struct error *error)
{
	json_t *object;
	int code = json_member_object(parts, name, &object, error);

	if (!code)
		code = restore_hist(hist, object, error);
	if (!code && hist->count != count)
		code = error_set(error, -EINVAL, "numbers of samples and latencies differ");
	if (code)
		error_wrap(error, "%s", name);
	return code;
}

/* Without the wake-up, no operation waited for one. */
static int parse_parts(struct breakdown *breakdown, const json_t *parts, uint64_t count,
		       struct error *error)
{
	for (size_t i = 0; i < BREAKDOWN_PARTS; i++) {
		const char *name = breakdown_names[i];

		if (i == BREAKDOWN_WAKEUP && !json_object_get(parts, name))
			hist_init(&breakdown->parts[i]);
		else if (parse_part(&breakdown->parts[i], parts, name, count, error))
			return error->code;
	}
	return 0;
}

int parse_breakdown(struct result_case *line, const json_t *json, struct error *error)
{
	uint64_t count = line->latency ? line->latency->count : 0;
	json_t *parts;
	json_t *clock;
	int code = json_member_object(json, "breakdown_ns", &parts, error);

	if (code)
		return code;
	line->breakdown = calloc(1, sizeof(*line->breakdown));
	if (!line->breakdown)
		return error_set_errno(error, -ENOMEM, "cannot keep histograms");
	code = parse_parts(line->breakdown, parts, count, error);
	if (!code)
		code = json_member_object(parts, "clock", &clock, error);
	if (!code)
		code = json_member_figure(clock, "hz", &line->breakdown->clock_hz, error);
	if (!code)
		code = json_member_figure(clock, "error_ns", &line->breakdown->clock_error_ns,
					  error);
	if (code)
		error_wrap(error, "breakdown_ns");
	return code;
}
