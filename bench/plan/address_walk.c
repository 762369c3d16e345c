/* SPDX-License-Identifier: MIT */
#include "bench/plan/address_walk.h"

#include "bench/plan/pattern.h"
#include "core/base/random.h"

#define LINE   64
#define ATOMIC 8

/* Knuth's 64-bit multiplier: it is 1 modulo 4, so any odd increment gives the full period. */
#define FACTOR 6364136223846793005ULL

/* A shift so large that nothing is folded. */
#define NO_FOLD 63

uint64_t address_walk_place(const struct parameters *parameters, bool is_atomic)
{
	uint64_t head = parameters_head(parameters);
	uint64_t unit = is_atomic ? ATOMIC : LINE;

	if (address_walk_stride(parameters))
		return address_walk_stride(parameters);
	return (parameters->size + head + unit - 1) / unit * unit;
}

uint64_t address_walk_ways(const struct parameters *parameters)
{
	return address_walk_is_on(parameters) && parameters->bidirectional ? 2 : 1;
}

uint64_t address_walk_places(const struct parameters *parameters, bool is_atomic)
{
	uint64_t part =
		parameters->buffer / pattern_pairs(parameters) / address_walk_ways(parameters);
	uint64_t fitting = part / address_walk_place(parameters, is_atomic);

	return fitting ? 1ULL << (63 - __builtin_clzll(fitting)) : 0;
}

void address_walk_init(struct address_walk *walk, const struct parameters *parameters,
		       bool is_atomic, unsigned int flow)
{
	uint64_t places = address_walk_places(parameters, is_atomic);
	uint64_t seed = random_mix(parameters->seed + ((uint64_t)flow << 32));

	*walk = (struct address_walk){
		.factor = 1,
		.step = 1,
		.mask = places - 1,
		.fold = NO_FOLD,
		.bits = (unsigned int)__builtin_ctzll(places),
		.place = address_walk_place(parameters, is_atomic),
	};
	if (parameters->access != ACCESS_RANDOM)
		return;
	walk->at = seed & walk->mask;
	walk->factor = FACTOR;
	walk->step = random_mix(seed) | 1;
	walk->fold = (walk->bits + 1) / 2;
}
