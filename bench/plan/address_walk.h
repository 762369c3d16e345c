/* SPDX-License-Identifier: MIT */
/*
 * The sequence of addresses for messages that do not all use the same one. The walk visits every
 * place of a buffer once before it repeats any. Each step is a linear congruential generator of
 * full period modulo a power of two; its upper bits are folded onto the lower bits, which alone
 * have short periods. A sequential walk is a special case. Both sides of a queue pair take the
 * same steps.
 */
#ifndef BENCH_PLAN_ADDRESS_WALK_H
#define BENCH_PLAN_ADDRESS_WALK_H

#include "bench/plan/parameters.h"
#include "core/base/compiler.h"

struct address_walk {
	uint64_t at;
	uint64_t factor;
	uint64_t step;
	uint64_t mask; /* number of places minus one */
	unsigned int fold;
	unsigned int bits; /* bits in a place's number */
	uint64_t place;    /* bytes from one place to the next */
};

static inline bool address_walk_is_on(const struct parameters *parameters)
{
	return parameters->access != ACCESS_SAME;
}

/* Returns the requested stride, or 0. */
static inline uint64_t address_walk_stride(const struct parameters *parameters)
{
	bool has = parameters->access >= ACCESS_STRIDE && parameters->access < PARAMETER_OFF;

	return has ? parameters->access - ACCESS_STRIDE : 0;
}

/*
 * Returns the bytes from one place to the next: the stride, or the size of a message rounded up to
 * a cache line (atomics: to 8 bytes).
 */
uint64_t address_walk_place(const struct parameters *parameters, bool is_atomic);

/*
 * Returns the number of parts that a queue pair's buffer is divided into. A bidirectional case has
 * two: the first for the messages that this side sends, the second for those of the peer.
 */
uint64_t address_walk_ways(const struct parameters *parameters);

/* Returns the number of places in each part: the largest power of two that fits. */
uint64_t address_walk_places(const struct parameters *parameters, bool is_atomic);

/* Starts the walk of a queue pair. flow is its number among those of all threads. */
void address_walk_init(struct address_walk *walk, const struct parameters *parameters,
		       bool is_atomic, unsigned int flow);

/* Returns the size of a part in bytes. */
static inline uint64_t address_walk_bytes(const struct address_walk *walk)
{
	return (walk->mask + 1) * walk->place;
}

/* Returns the offset in bytes of the next place. */
static ALWAYS_INLINE uint64_t address_walk_next(struct address_walk *walk)
{
	uint64_t at = walk->at;

	walk->at = (at * walk->factor + walk->step) & walk->mask;
	return (at ^ at >> walk->fold) * walk->place;
}

#endif
