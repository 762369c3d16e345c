/* SPDX-License-Identifier: MIT */
/*
 * Merges what the threads of a trial have seen: counts and costs are sums, histograms are
 * merged, and windows are added by time. With a number of messages, the duration is from the common
 * start to the end of the last thread; with a time, it is what all messages take at the sum of the
 * threads' rates.
 */
#ifndef BENCH_CLIENT_MERGE_THREADS_H
#define BENCH_CLIENT_MERGE_THREADS_H

#include "bench/client/trial.h"

/* Room for what a thread sees, on cache lines of its own. The thread that measures calls this. */
int merge_threads_open(struct trial_lane *own, struct error *error);
void merge_threads_close(struct trial_lane *own); /* a zeroed one is fine */

/* Fills in the first lane's hist, warmup and windows, found, and the trial's outcome. */
int merge_threads_parts(struct trial *trial, struct result_trial *found, struct error *error);

/* Sums over all lanes. */
uint64_t merge_threads_posted(const struct trial *trial);
uint64_t merge_threads_lost(const struct trial *trial);
double merge_threads_received_per_s(const struct trial *trial);

#endif
