/* SPDX-License-Identifier: MIT */
/*
 * The provider's share: only the calls to the provider that the loop of a bed makes for that many
 * messages, including the cost of making them.
 */
#ifndef BENCH_MICRO_CALLS_H
#define BENCH_MICRO_CALLS_H

#include "bench/micro/bed.h"

/* messages must be a multiple of this, so that the number of calls is exact. */
#define CALLS_ROUND 512

/* Makes the calls of an operation's latency or bandwidth loop. */
void calls_drive(struct bed *bed, uint64_t messages);

/* Makes the calls of the receiving side. */
void calls_sink(struct bed *bed, uint64_t messages);

#endif
