/* SPDX-License-Identifier: MIT */
/*
 * What the threads of a trial have seen becomes that of the trial: counts and costs are
 * sums, histograms are merged, windows laid over each other by time. Of a number of messages
 * the time goes from the common begin to the end of the last one; by time, it is what all of
 * them take at the sum of the threads' rates.
 */
#ifndef BENCH_CLIENT_MERGE_THREADS_H
#define BENCH_CLIENT_MERGE_THREADS_H

#include "bench/client/trial.h"

/* Room for what a thread sees, with lines of its own, near to the thread that calls this. */
int merge_threads_open(struct trial *part, struct trial *whole, struct error *error);
void merge_threads_close(struct trial *part); /* a zeroed one is fine */

/* Into the first one's hist, warm-up and windows, found, and the trial's shares. */
int merge_threads_parts(struct trial *trial, const struct plan_case *wanted,
			struct result_trial *found, struct error *error);

/* Of all lanes. */
uint64_t merge_threads_posted(struct trial *trial);
uint64_t merge_threads_lost(struct trial *trial);
struct result_place merge_threads_places(struct trial *trial);

#endif
