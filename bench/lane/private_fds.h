/* SPDX-License-Identifier: MIT */
/*
 * Work whose descriptors are no other thread's. Where threads share a table of descriptors, the
 * kernel takes a reference with each call that names one, and drops it after: some 50 ns of a call
 * that has 200, where a program with one thread has none of that. To post on Soft-RoCE is such a
 * call, and to take an event is two or three.
 */
#ifndef BENCH_LANE_PRIVATE_FDS_H
#define BENCH_LANE_PRIVATE_FDS_H

#include "bench/lane/threads.h"
#include "bench/op/op.h"

/*
 * Whether nothing is opened in the loops of such an operation that is there afterwards: calls that
 * are timed make connections, and the software device opens what is of a peer when it is met.
 */
bool apart_suits(const struct lane *lane, const struct op *op);

/*
 * Has a thread do the job, which drives the lane, with a table of its own that has the lane's
 * descriptors and the standard ones, and waits for it; whatever else is closed meanwhile is closed
 * for good. Where there can be no such table the thread shares that of the others, and where there
 * can be no thread the calling one does the job.
 */
int apart_run(const struct lane *lane, threads_job *job, void *whole, unsigned int number,
	      struct error *error);

#endif
