/* SPDX-License-Identifier: MIT */
/* splitmix64 (Steele, Lea, Flood 2014): the same seed gives the same numbers on every machine. */
#ifndef CORE_BASE_RANDOM_H
#define CORE_BASE_RANDOM_H

#include <stdint.h>

/* Mixes one value: similar inputs give dissimilar numbers. */
static inline uint64_t random_mix(uint64_t value)
{
	value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
	return value ^ value >> 31;
}

static inline uint64_t random_next(uint64_t *state)
{
	return random_mix(*state += UINT64_C(0x9e3779b97f4a7c15));
}

#endif
