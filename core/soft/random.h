/* SPDX-License-Identifier: MIT */
/* splitmix64 (Steele, Lea, Flood 2014): the same numbers from the same seed, anywhere. */
#ifndef CORE_SOFT_RANDOM_H
#define CORE_SOFT_RANDOM_H

#include <stdint.h>

static inline uint64_t soft_random(uint64_t *state)
{
	uint64_t value = *state += UINT64_C(0x9e3779b97f4a7c15);

	value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
	return value ^ value >> 31;
}

#endif
