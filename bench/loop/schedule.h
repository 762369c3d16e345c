/* SPDX-License-Identifier: MIT */
/*
 * When to send messages: at a fixed rate, or as a Poisson process, whose exponential gaps follow
 * from a seed. Times are ticks of the loops' clock in units of 2^-32, so that gaps are not rounded
 * and do not drift.
 */
#ifndef BENCH_LOOP_SCHEDULE_H
#define BENCH_LOOP_SCHEDULE_H

#include "core/base/clock.h"
#include "core/base/random.h"

/* Steps of the table of base-2 logarithms, with linear interpolation between them. */
#define SCHEDULE_STEP_BITS 8
#define SCHEDULE_STEPS     (1U << SCHEDULE_STEP_BITS)

struct schedule {
	unsigned __int128 next;
	unsigned __int128 gap; /* the mean; for Poisson, times ln 2 */
	uint64_t random;
	bool is_poisson;
	double ticks_per_message;
	uint64_t logarithm[SCHEDULE_STEPS + 1]; /* 1 - log2(1 + i / SCHEDULE_STEPS) */
};

/* rate is in messages per second. The trial's number makes the gaps of each trial different. */
void schedule_init(struct schedule *schedule, const struct clock *clock, double rate,
		   bool is_poisson);
void schedule_seed(struct schedule *schedule, uint64_t seed, uint64_t trial);

/* Starts the schedule. The first message is due one gap after the tick. */
void schedule_begin(struct schedule *schedule, uint64_t tick);

/* Returns how many more messages, on average, are due by that tick. */
double schedule_count(const struct schedule *schedule, uint64_t tick);

/* Returns the tick at which the next message is due. */
static ALWAYS_INLINE uint64_t schedule_next(const struct schedule *schedule)
{
	return (uint64_t)(schedule->next >> 32);
}

/*
 * Returns an exponential value with mean 1 / ln 2, in units of 2^-32: minus the base-2 logarithm
 * of a uniform number in (0, 1). The integer part is the number of leading zeros; the table gives
 * the rest.
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
