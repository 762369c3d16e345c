/* SPDX-License-Identifier: MIT */
/*
 * The soft device's clocks: nanoseconds for timers, and cycles for completion timestamps. Cycles
 * differ from the host's clocks in unit and origin, as on adapters.
 */
#ifndef CORE_SOFT_TIME_H
#define CORE_SOFT_TIME_H

#include <stdint.h>
#include <time.h>

#define SOFT_SECOND_NS UINT64_C(1000000000)
/* Five cycles in four nanoseconds. */
#define SOFT_CYCLES_KHZ   UINT64_C(1250000)
#define SOFT_CYCLES_BEGIN (UINT64_C(1) << 40)

static inline uint64_t soft_time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SOFT_SECOND_NS + (uint64_t)now.tv_nsec;
}

static inline uint64_t soft_time_cycles(uint64_t time_ns)
{
	return SOFT_CYCLES_BEGIN + time_ns + time_ns / 4;
}

static inline struct timespec soft_time_split(uint64_t time_ns)
{
	return (struct timespec){
		.tv_sec = (time_t)(time_ns / SOFT_SECOND_NS),
		.tv_nsec = (long)(time_ns % SOFT_SECOND_NS),
	};
}

#endif
