/* SPDX-License-Identifier: MIT */
/*
 * What a client does of a trial once both ends are connected: its threads warm up until
 * all have converged, begin together, and measure. For the thread that opened the trial.
 */
#ifndef BENCH_CLIENT_MEASURE_H
#define BENCH_CLIENT_MEASURE_H

#include "bench/client/trial.h"

/* Fills in found, the trial's shares, and the first lane's hist or windows. */
int measure_all(struct trial *trial, struct result_trial *found, struct error *error);

/* Runs one operation, by the first thread, without a warm-up. */
int measure_one(struct trial *trial, struct error *error);

/* What is seen then comes of that: the other end has gone, or the user wants to. */
bool measure_is_cause(int code);

#endif
