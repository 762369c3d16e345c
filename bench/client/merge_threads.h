/* SPDX-License-Identifier: MIT */
/*
 * Merges the results of a trial's threads: counts and costs are added, histograms are merged, and
 * throughput windows are added by time. With -n, the duration is from the common start to the end
 * of the last thread; with -D, it is the time that all messages would take at the sum of the
 * threads' rates.
 */
#ifndef BENCH_CLIENT_MERGE_THREADS_H
#define BENCH_CLIENT_MERGE_THREADS_H

#include "bench/client/trial.h"

/* Allocates a thread's results on cache lines of their own. Called by the measuring thread. */
int merge_threads_open(struct trial_lane *own, bool has_samples, struct error *error);
void merge_threads_close(struct trial_lane *own); /* does nothing if zeroed */

/* Merges into the first lane's hist, warmup and windows, found, and the trial's outcome. */
int merge_threads_parts(struct trial *trial, struct result_trial *found, struct error *error);

/* These add up all lanes. */
uint64_t merge_threads_posted(const struct trial *trial);
uint64_t merge_threads_lost(const struct trial *trial);
double merge_threads_received_per_s(const struct trial *trial);

#endif
