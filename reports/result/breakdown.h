/* SPDX-License-Identifier: MIT */
/*
 * Where the time of a latency case's operations went, in nanoseconds. Each operation adds one
 * sample to each part, so the parts add up to the whole: of a case whose latency is half a round
 * trip, to the round trip. The case owns it; result_drop_trials frees it.
 */
#ifndef REPORTS_RESULT_BREAKDOWN_H
#define REPORTS_RESULT_BREAKDOWN_H

#include <stdbool.h>

#include "core/base/error.h"
#include "core/base/hist.h"

struct result_case;

enum breakdown_part {
	BREAKDOWN_POST,   /* the call that posts */
	BREAKDOWN_DEVICE, /* until the device's timestamp of the completion */
	BREAKDOWN_WAKEUP, /* from that until the program woke up; 0 if it did not sleep */
	BREAKDOWN_POLL,   /* until the program had the completion */
	BREAKDOWN_PARTS,
};

struct breakdown {
	struct hist parts[BREAKDOWN_PARTS];
	double clock_hz;       /* the device's clock, measured in the first trial */
	double clock_error_ns; /* the largest error of a converted timestamp */
};

/* The names of the parts in documents and tables. */
extern const char *const breakdown_names[BREAKDOWN_PARTS];

void breakdown_clear(struct breakdown *breakdown);

/* Adds the parts of other operations. */
void breakdown_merge(struct breakdown *into, const struct breakdown *from);

/* Adds a trial. */
int breakdown_add(struct result_case *line, const struct breakdown *seen, struct error *error);

/* Returns whether any operation waited for a wake-up. */
bool breakdown_has_wakeup(const struct breakdown *breakdown);

#endif
