/* SPDX-License-Identifier: MIT */
/* What a plan of several ends cannot be: of one thread at one host, or of several without. */
#ifndef BENCH_PLAN_PATTERN_RULES_H
#define BENCH_PLAN_PATTERN_RULES_H

#include "bench/plan/plan.h"

/* Leaves out the cases that cannot be run. An error: the hosts themselves are wrong. */
int plan_check_patterns(struct plan *plan, struct error *error);

#endif
