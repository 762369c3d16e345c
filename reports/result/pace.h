/* SPDX-License-Identifier: MIT */
/*
 * What a case at a given rate has beside its latencies, which count from when messages
 * were due: how late they were posted, how long they took from there, and whether the
 * schedule was kept. A case owns it, and result_drop_trials frees it.
 */
#ifndef REPORTS_RESULT_PACE_H
#define REPORTS_RESULT_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/base/hist.h"
#include "reports/result/case_id.h"

struct result_case;

struct pace {
	struct hist lag;            /* from when they were due to their posts, nanoseconds */
	struct hist uncorrected;    /* from their posts */
	char maximum_case[CASE_ID]; /* that has measured what 100 % are; empty: not needed */
	double maximum;             /* its messages per second */
};

/* Of a trial. */
struct pace_trial {
	double rate;     /* messages per second, as asked; 0: of no load */
	uint64_t unsent; /* that were due, and given up */
	bool is_saturated;
};

/* Adds what a trial has seen. A maximum that is not the same in all of them is dropped. */
int pace_add(struct result_case *line, const struct pace *seen, struct error *error);

/* As asked: the mean over trials. */
double pace_rate(const struct result_case *line);

/* Messages per second that went, from the first one's time to the last completion. */
double pace_got(const struct result_case *line);

uint64_t pace_unsent(const struct result_case *line);

/* At least half of the trials could not keep to the schedule. */
bool pace_is_saturated(const struct result_case *line);

#endif
