/* SPDX-License-Identifier: MIT */
/*
 * Findings about the cases of a run, rather than about its hosts: an end with more threads than
 * CPUs, and a polling thread that was preempted.
 */
#ifndef BENCH_HOST_ADVICE_THREADS_H
#define BENCH_HOST_ADVICE_THREADS_H

#include "reports/result/result.h"

/* For each end, appends a finding for the worst case. */
void advice_threads(const struct result *result, json_t *findings);

#endif
