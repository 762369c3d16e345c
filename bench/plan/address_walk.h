/* SPDX-License-Identifier: MIT */
/*
 * Where messages go that do not all go to one place: over the places of a buffer, in an
 * order in which each of them comes once before any comes again. A step is a linear
 * congruential generator of full period over a power of two, with the upper half of its
 * bits laid over the lower one, which by themselves have short periods; in order is a
 * case of it. Both ends of a queue pair take the same steps.
 */
#ifndef BENCH_PLAN_ADDRESS_WALK_H
#define BENCH_PLAN_ADDRESS_WALK_H

#include "bench/plan/parameters.h"
#include "core/base/compiler.h"

struct address_walk {
	uint64_t at;
	uint64_t factor;
	uint64_t step;
	uint64_t mask; /* places less one */
	unsigned int fold;
	unsigned int bits; /* of the number of a place */
	uint64_t place;    /* bytes from one place to the next */
};

static inline bool address_walk_is_on(const struct parameters *parameters)
{
	return parameters->access != ACCESS_SAME;
}

/* That was asked for, or 0. */
static inline uint64_t address_walk_stride(const struct parameters *parameters)
{
	bool has = parameters->access >= ACCESS_STRIDE && parameters->access < PARAMETER_OFF;

	return has ? parameters->access - ACCESS_STRIDE : 0;
}

/* Bytes from one place to the next: a line of a cache at the least, of atomics eight. */
uint64_t address_walk_place(const struct parameters *parameters, bool is_atomic);

/*
 * Into so many parts the buffer of a queue pair is divided: in both directions, the first is for
 * what this end asks for, and the other one for what the other end does.
 */
uint64_t address_walk_ways(const struct parameters *parameters);

/* How many places each part has: the largest power of two that it holds. */
uint64_t address_walk_places(const struct parameters *parameters, bool is_atomic);

/* At its first place, for the queue pair of that number among those of all threads. */
void address_walk_init(struct address_walk *walk, const struct parameters *parameters,
		       bool is_atomic, unsigned int flow);

/* All places: the size of such a part. */
static inline uint64_t address_walk_bytes(const struct address_walk *walk)
{
	return (walk->mask + 1) * walk->place;
}

/* Where the next place is, in bytes from the first one. */
static ALWAYS_INLINE uint64_t address_walk_next(struct address_walk *walk)
{
	uint64_t at = walk->at;

	walk->at = (at * walk->factor + walk->step) & walk->mask;
	return (at ^ at >> walk->fold) * walk->place;
}

#endif
