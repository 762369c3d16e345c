/* SPDX-License-Identifier: MIT */
/*
 * Additional results of an open-loop case. Its latencies count from the time when messages were
 * due. The pace has the delay of posts, the latencies from the posts on, and whether the schedule
 * was kept. The case owns it; result_drop_trials frees it.
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
	struct hist lag;            /* ns from the due time to the post */
	struct hist uncorrected;    /* latencies in ns from the post on */
	char maximum_case[CASE_ID]; /* case that measured 100 %; empty: not needed */
	double maximum;             /* messages per second of that case */
};

struct pace_trial {
	double rate;     /* requested messages per second; 0: not an open-loop trial */
	uint64_t unsent; /* messages that were due but never sent */
	bool is_saturated;
};

/* Adds a trial. Drops the maximum unless it is the same in all trials. */
int pace_add(struct result_case *line, const struct pace *seen, struct error *error);

/* Returns the requested rate, as the mean over trials. */
double pace_rate(const struct result_case *line);

/* Returns the achieved messages per second, from the first due time to the last completion. */
double pace_got(const struct result_case *line);

uint64_t pace_unsent(const struct result_case *line);

/* Returns whether at least half of the trials could not keep to the schedule. */
bool pace_is_saturated(const struct result_case *line);

#endif
