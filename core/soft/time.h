/* SPDX-License-Identifier: MIT */
/*
 * The soft device's clock, for timers and completion timestamps.
 */
#ifndef CORE_SOFT_TIME_H
#define CORE_SOFT_TIME_H

#include <stdint.h>
#include <time.h>

#define SOFT_SECOND_NS UINT64_C(1000000000)

static inline uint64_t soft_time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SOFT_SECOND_NS + (uint64_t)now.tv_nsec;
}

static inline struct timespec soft_time_split(uint64_t time_ns)
{
	return (struct timespec){
		.tv_sec = (time_t)(time_ns / SOFT_SECOND_NS),
		.tv_nsec = (long)(time_ns % SOFT_SECOND_NS),
	};
}

#endif
