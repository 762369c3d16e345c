/* SPDX-License-Identifier: MIT */
/*
 * When messages are to be sent: at a rate, so long apart each (fixed), or as a Poisson
 * process has it, whose gaps are exponential and follow from a seed. Times are ticks of
 * the loops' clock, kept in units of 2^-32: no gap is rounded, and none drifts.
 */
#ifndef BENCH_LOOP_SCHEDULE_H
#define BENCH_LOOP_SCHEDULE_H

#include "core/base/clock.h"
#include "core/base/random.h"

/* Of a logarithm to base 2, between the steps of which lines are drawn. */
#define SCHEDULE_STEP_BITS 8
#define SCHEDULE_STEPS     (1U << SCHEDULE_STEP_BITS)

struct schedule {
	unsigned __int128 next;
	unsigned __int128 gap; /* the mean one; of Poisson times ln 2 */
	uint64_t random;
	bool is_poisson;
	double ticks_per_message;
	uint64_t logarithm[SCHEDULE_STEPS + 1]; /* 1 - log2(1 + i / SCHEDULE_STEPS) */
};

/* rate: messages per second. Seeds of one run are told apart by their trial. */
void schedule_init(struct schedule *schedule, const struct clock *clock, double rate,
		   bool is_poisson);
void schedule_seed(struct schedule *schedule, uint64_t seed, uint64_t trial);

/* The first message is due one gap after that tick. */
void schedule_begin(struct schedule *schedule, uint64_t tick);

/* How many more, on the average, are due by then. */
double schedule_count(const struct schedule *schedule, uint64_t tick);

/* The tick at which the next one is due. */
static ALWAYS_INLINE uint64_t schedule_next(const struct schedule *schedule)
{
	return (uint64_t)(schedule->next >> 32);
}

/*
 * Exponential, with the mean 1 / ln 2, in units of 2^-32: minus the logarithm to base 2
 * of a number from 0 to 1, which is the zeros that it begins with, and what the rest has.
 */
static ALWAYS_INLINE uint64_t schedule_exponential(struct schedule *schedule)
{
	uint64_t number = random_next(&schedule->random);
	unsigned int zeros = (unsigned int)__builtin_clzll(number | 1);
	uint64_t rest = number << zeros << 1;
	const uint64_t *step = &schedule->logarithm[rest >> (64 - SCHEDULE_STEP_BITS)];
	uint64_t beyond = rest << SCHEDULE_STEP_BITS >> 32;

	return ((uint64_t)zeros << 32) + step[0] - ((step[0] - step[1]) * beyond >> 32);
}

static ALWAYS_INLINE void schedule_advance(struct schedule *schedule)
{
	if (schedule->is_poisson)
		schedule->next += schedule->gap * schedule_exponential(schedule) >> 32;
	else
		schedule->next += schedule->gap;
}

#endif
