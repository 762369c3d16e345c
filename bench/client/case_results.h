/* SPDX-License-Identifier: MIT */
/* What a plan asks for as cases of a result, of which nothing has been seen yet. */
#ifndef BENCH_CLIENT_CASE_RESULTS_H
#define BENCH_CLIENT_CASE_RESULTS_H

#include "bench/plan/plan.h"
#include "reports/result/result.h"

int case_results_make(const struct plan *plan, struct result *result, struct error *error);

/* One that cannot be run says why. */
void case_results_note_skipped(const struct plan_case *wanted, struct result_case *found);

/* Of a case that ended so. */
enum result_status case_results_status(const struct error *error);

#endif
