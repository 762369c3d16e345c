/* SPDX-License-Identifier: MIT */
/*
 * What a client does of a trial once both ends are connected: its threads warm up until
 * all are steady, begin together, and measure. For the thread that opened the trial.
 */
#ifndef BENCH_CLIENT_MEASURE_H
#define BENCH_CLIENT_MEASURE_H

#include "bench/client/trial.h"

/* Fills in found and the trial's shares, and its hist or windows. */
int measure_all(struct trial *trial, const struct plan_case *wanted, struct result_trial *found,
		struct error *error);

/* One operation, by the first thread, without a warm-up. */
int measure_one(struct trial *trial, const struct plan_case *wanted, struct error *error);

/* What is seen then comes of that: the other end has gone, or the user wants to. */
bool measure_is_cause(int code);

#endif
