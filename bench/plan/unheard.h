/* SPDX-License-Identifier: MIT */
/* Rejects options that would not affect any case of the plan. */
#ifndef BENCH_PLAN_UNHEARD_H
#define BENCH_PLAN_UNHEARD_H

#include "bench/plan/plan.h"

/* Call after the cases are made. The error names the first such option and what it applies to. */
int plan_check_unheard(const struct plan *plan, struct error *error);

#endif
