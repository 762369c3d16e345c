/* SPDX-License-Identifier: MIT */
/* Creates the empty cases of a result from a plan. */
#ifndef BENCH_CLIENT_CASE_RESULTS_H
#define BENCH_CLIENT_CASE_RESULTS_H

#include "bench/plan/plan.h"
#include "reports/result/result.h"

int case_results_make(const struct plan *plan, struct result *result, struct error *error);

/* Marks a case that cannot run as skipped, with the reason. */
void case_results_note_skipped(const struct plan_case *wanted, struct result_case *found);

/* Returns the status of a case that ended with this error, or without one. */
enum result_status case_results_status(const struct error *error);

#endif
