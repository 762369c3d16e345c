/* SPDX-License-Identifier: MIT */
/* Options of a command line that none of its cases would hear of. */
#ifndef BENCH_PLAN_UNHEARD_H
#define BENCH_PLAN_UNHEARD_H

#include "bench/plan/plan.h"

/* Once the cases are made: the error names the first such option, and what it is for. */
int plan_check_unheard(const struct plan *plan, struct error *error);

#endif
