/* SPDX-License-Identifier: MIT */
/*
 * The client's measurement, once both ends are connected: its threads warm up until all have
 * converged, begin together, and measure. Only the thread that opened the trial calls this.
 */
#ifndef BENCH_CLIENT_MEASURE_H
#define BENCH_CLIENT_MEASURE_H

#include "bench/client/trial.h"

/* Fills in found, the trial's shares, and the hist or windows of the first lane. */
int measure_all(struct trial *trial, struct result_trial *found, struct error *error);

/* Runs one operation, by the first thread, without a warm-up. */
int measure_one(struct trial *trial, struct error *error);

/* Returns whether code explains a failed loop: the server is gone, or the user interrupted. */
bool measure_is_cause(int code);

#endif
