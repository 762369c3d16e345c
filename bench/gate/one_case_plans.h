/* SPDX-License-Identifier: MIT */
/*
 * The cases of a plan as separate plans, so that they can run in any order and with their own
 * number of messages. Cases that no device can run are left out.
 */
#ifndef BENCH_GATE_ONE_CASE_PLANS_H
#define BENCH_GATE_ONE_CASE_PLANS_H

#include "bench/plan/plan.h"

#define ONE_CASE_PLAN_TEXT 512

struct one_case_plan {
	char id[CASE_ID];
	bool is_bandwidth;
	uint64_t iterations;  /* given for each trial; 0: not given (as below) */
	uint64_t duration_ns; /* of the measured interval */
	uint64_t warmup_ns;
	uint64_t threads;  /* each runs its own iterations */
	uint64_t takes_ns; /* duration of a trial, from a first one; 0: unknown */
	json_t *product;   /* its plan: an object without the members above */
};

struct one_case_plan_list {
	struct one_case_plan *singles;
	size_t count;
	size_t n_skipped;  /* left out because no device can run them */
	char skipped[400]; /* the first one, and the reason */
};

/* Returns -EINVAL if a case has no figures to gate, or if no case can run. */
int one_case_plan_open(struct one_case_plan_list *list, const struct plan *plan,
		       struct error *error);
/* Prints a sentence about the skipped cases. Returns false if there are none. */
bool one_case_plan_skipped(const struct one_case_plan_list *list,
			   char text[static ONE_CASE_PLAN_TEXT]);

void one_case_plan_close(struct one_case_plan_list *list);

#endif
