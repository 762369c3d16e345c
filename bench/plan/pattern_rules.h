/* SPDX-License-Identifier: MIT */
/* Rejects patterns that do not fit the number of threads and hosts. */
#ifndef BENCH_PLAN_PATTERN_RULES_H
#define BENCH_PLAN_PATTERN_RULES_H

#include "bench/plan/plan.h"

/* Marks the cases that cannot run as skipped. Fails only if the list of hosts is invalid. */
int plan_check_patterns(struct plan *plan, struct error *error);

#endif
