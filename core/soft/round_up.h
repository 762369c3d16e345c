/* SPDX-License-Identifier: MIT */
/* Ring sizes. Ring indices increase without wrapping and are masked to find the place. */
#ifndef CORE_SOFT_ROUND_UP_H
#define CORE_SOFT_ROUND_UP_H

#include <stdint.h>

/* Returns the smallest power of two that is at least count. */
static inline uint32_t soft_power_from(uint32_t count)
{
	uint32_t size = 1;

	while (size < count)
		size *= 2;
	return size;
}

#endif
