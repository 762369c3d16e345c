/* SPDX-License-Identifier: MIT */
/*
 * The client's measurement, once both ends are connected: its threads warm up until all have
 * converged, begin together, and measure. Only the thread that opened the trial calls this.
 */
#ifndef BENCH_CLIENT_MEASURE_H
#define BENCH_CLIENT_MEASURE_H

#include "bench/client/trial.h"

/* Fills in found, the trial's shares, and the first lane's hist or windows. */
int measure_all(struct trial *trial, struct result_trial *found, struct error *error);

/* Runs one operation, by the first thread, without a warm-up. */
int measure_one(struct trial *trial, struct error *error);

/* Whether the code is why a loop failed: the server has gone, or the user interrupts. */
bool measure_is_cause(int code);

#endif
