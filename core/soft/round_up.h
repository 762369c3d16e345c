/* SPDX-License-Identifier: MIT */
/* Sizes of rings: indices run on, and are cut to the place by a mask. */
#ifndef CORE_SOFT_ROUND_UP_H
#define CORE_SOFT_ROUND_UP_H

#include <stdint.h>

/* The least power of two that is no less than that. */
static inline uint32_t soft_power_from(uint32_t count)
{
	uint32_t size = 1;

	while (size < count)
		size *= 2;
	return size;
}

#endif
