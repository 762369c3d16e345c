/* SPDX-License-Identifier: MIT */
/*
 * When to send messages: at a fixed rate, or as a Poisson process, whose exponential gaps follow
 * from a seed; one by one, or in bursts. Times are ticks of the loops' clock in units of 2^-32, so that gaps are not rounded
 * and do not drift.
 */
#ifndef BENCH_LOOP_ARRIVAL_H
#define BENCH_LOOP_ARRIVAL_H

#include "core/base/clock.h"
#include "core/base/random.h"

/* Steps of the table of base-2 logarithms, with linear interpolation between them. */
#define ARRIVAL_STEP_BITS 8
#define ARRIVAL_STEPS     (1U << ARRIVAL_STEP_BITS)

struct arrival {
	unsigned __int128 next;
	unsigned __int128 gap; /* the mean; for Poisson, times ln 2 */
	uint64_t random;
	bool is_poisson;
	uint64_t more; /* messages of a burst after its first */
	uint64_t left; /* messages of the current burst after the next one */
	double ticks_per_message;
	uint64_t logarithm[ARRIVAL_STEPS + 1]; /* 1 - log2(1 + i / ARRIVAL_STEPS) */
};

/* rate is in messages per second. The trial's number makes the gaps of each trial different. */
void arrival_init(struct arrival *arrival, const struct clock *clock, double rate, bool is_poisson);
void arrival_seed(struct arrival *arrival, uint64_t seed, uint64_t trial);

/* Makes that many messages due at once, at the same average rate. */
void arrival_burst(struct arrival *arrival, uint64_t messages);

/* Starts the process. The first message is due one gap after the tick. */
void arrival_begin(struct arrival *arrival, uint64_t tick);

/* Returns how many more messages, on average, are due by that tick. */
double arrival_count(const struct arrival *arrival, uint64_t tick);

/* Returns the tick at which the next message is due. */
static ALWAYS_INLINE uint64_t arrival_next(const struct arrival *arrival)
{
	return (uint64_t)(arrival->next >> 32);
}

/*
 * Returns an exponential value with mean 1 / ln 2, in units of 2^-32: minus the base-2 logarithm
 * of a uniform number in (0, 1). The integer part is the number of leading zeros; the table gives
 * the rest.
 */
static ALWAYS_INLINE uint64_t arrival_exponential(struct arrival *arrival)
{
	uint64_t number = random_next(&arrival->random);
	unsigned int zeros = (unsigned int)__builtin_clzll(number | 1);
	uint64_t rest = number << zeros << 1;
	const uint64_t *step = &arrival->logarithm[rest >> (64 - ARRIVAL_STEP_BITS)];
	uint64_t beyond = rest << ARRIVAL_STEP_BITS >> 32;

	return ((uint64_t)zeros << 32) + step[0] - ((step[0] - step[1]) * beyond >> 32);
}

static ALWAYS_INLINE void arrival_advance(struct arrival *arrival)
{
	if (arrival->left) {
		arrival->left--;
		return;
	}
	arrival->left = arrival->more;
	if (arrival->is_poisson)
		arrival->next += arrival->gap * arrival_exponential(arrival) >> 32;
	else
		arrival->next += arrival->gap;
}

#endif
