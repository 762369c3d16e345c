/* SPDX-License-Identifier: MIT */
/* The latencies of one thread's trial, in the order in which they were measured. */
#ifndef BENCH_LOOP_SAMPLES_H
#define BENCH_LOOP_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

/* Latencies beyond these are counted but not stored. */
#define SAMPLES_MOST 1000000

struct samples {
	size_t count;
	uint64_t ns[SAMPLES_MOST];
};

static inline void samples_add(struct samples *samples, uint64_t ns)
{
	if (samples->count < SAMPLES_MOST)
		samples->ns[samples->count] = ns;
	samples->count++;
}

#endif
