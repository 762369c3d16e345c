/* SPDX-License-Identifier: MIT */
/*
 * The provider's own share: the calls that the loop of a bed makes to it for so many
 * messages, and nothing else. What it costs to make a call is in there too.
 */
#ifndef BENCH_MICRO_CALLS_H
#define BENCH_MICRO_CALLS_H

#include "bench/micro/bed.h"

/* messages is a multiple of this; then there are exactly as many calls. */
#define CALLS_ROUND 512

/* Of any operation, in latency and in bandwidth. */
void calls_drive(struct bed *bed, uint64_t messages);

/* Of the end that takes messages. */
void calls_sink(struct bed *bed, uint64_t messages);

#endif
