/* SPDX-License-Identifier: MIT */
/*
 * Work whose descriptors are no other thread's. Where threads share a table of descriptors, the
 * kernel takes a reference with each call that names one, and drops it after: some 50 ns of a call
 * that has 200, where a program with one thread has none of that. To post on Soft-RoCE is such a
 * call, and to take an event is two or three.
 */
#ifndef BENCH_APART_H
#define BENCH_APART_H

#include "bench/team.h"

/*
 * Has a thread do the job, with a copy of the table, and waits for it; where there can be no such
 * thread the calling one does it. What the job opens it also closes, and what others close
 * meanwhile stays open until it is done: it is for when nobody else has anything to close.
 */
int apart_run(team_job *job, void *whole, unsigned int number, struct error *error);

#endif
