/* SPDX-License-Identifier: MIT */
#include "reports/result/breakdown.h"

#include <errno.h>
#include <stdlib.h>

#include "reports/result/result.h"

const char *const breakdown_names[BREAKDOWN_PARTS] = {
	[BREAKDOWN_POST] = "post",
	[BREAKDOWN_DEVICE] = "device",
	[BREAKDOWN_WAKEUP] = "wakeup",
	[BREAKDOWN_POLL] = "poll",
};

void breakdown_clear(struct breakdown *breakdown)
{
	for (size_t i = 0; i < BREAKDOWN_PARTS; i++)
		hist_clear(&breakdown->parts[i]);
	breakdown->clock_hz = breakdown->clock_error_ns = 0;
}

void breakdown_merge(struct breakdown *into, const struct breakdown *from)
{
	for (size_t i = 0; i < BREAKDOWN_PARTS; i++)
		hist_merge(&into->parts[i], &from->parts[i]);
	if (!(into->clock_hz > 0))
		into->clock_hz = from->clock_hz;
	if (from->clock_error_ns > into->clock_error_ns)
		into->clock_error_ns = from->clock_error_ns;
}

int breakdown_add(struct result_case *line, const struct breakdown *seen, struct error *error)
{
	if (line->breakdown) {
		breakdown_merge(line->breakdown, seen);
		return 0;
	}
	line->breakdown = malloc(sizeof(*line->breakdown));
	if (!line->breakdown)
		return error_set_errno(error, -ENOMEM, "cannot keep the results");
	*line->breakdown = *seen;
	return 0;
}

bool breakdown_has_wakeup(const struct breakdown *breakdown)
{
	return breakdown->parts[BREAKDOWN_WAKEUP].sum > 0;
}
