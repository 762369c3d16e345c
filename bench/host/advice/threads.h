/* SPDX-License-Identifier: MIT */
/*
 * Findings about the cases of a run, rather than about its hosts: more threads at an end
 * than it has processors for them, and a thread that polled and lost its processor.
 */
#ifndef BENCH_HOST_ADVICE_THREADS_H
#define BENCH_HOST_ADVICE_THREADS_H

#include "reports/result/result.h"

/* Of each end the case with the most of them; added to an array of findings. */
void advice_threads(const struct result *result, json_t *findings);

#endif
