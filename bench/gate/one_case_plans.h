/* SPDX-License-Identifier: MIT */
/*
 * The cases of a plan, each as a plan of its own, so that they can be run in any order and
 * each as often as its own speed wants. What no device could run is left out.
 */
#ifndef BENCH_GATE_ONE_CASE_PLANS_H
#define BENCH_GATE_ONE_CASE_PLANS_H

#include "bench/plan/plan.h"

#define ONE_CASE_PLAN_TEXT 512

struct one_case_plan {
	char id[CASE_ID];
	bool is_bandwidth;
	uint64_t iterations;  /* of a trial, that were asked for; 0: none were, like: */
	uint64_t duration_ns; /* of what is measured */
	uint64_t warmup_ns;
	uint64_t threads;  /* each has its own iterations */
	uint64_t takes_ns; /* a trial, as far as it is known from one; 0: it is not */
	json_t *product;   /* its plan: an object, without those */
};

struct one_case_plan_list {
	struct one_case_plan *singles;
	size_t count;
	size_t n_skipped;  /* left out, as no device could run them; */
	char skipped[400]; /* the first of them, and why */
};

/* -EINVAL: a case has no figures that are gated, or none is left. */
int one_case_plan_open(struct one_case_plan_list *list, const struct plan *plan,
		       struct error *error);
/* What is left out, as a sentence; false: nothing is. */
bool one_case_plan_skipped(const struct one_case_plan_list *list,
			   char text[static ONE_CASE_PLAN_TEXT]);

void one_case_plan_close(struct one_case_plan_list *list);

#endif
