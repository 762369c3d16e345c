/* SPDX-License-Identifier: MIT */
#include "bench/loop/schedule.h"

#include <math.h>

#define UNIT 0x1p32

void schedule_init(struct schedule *schedule, const struct clock *clock, double rate,
		   bool is_poisson)
{
	double ticks_per_s = (double)NS_PER_S * UNIT / (double)clock->mult;

	*schedule = (struct schedule){.is_poisson = is_poisson};
	schedule->ticks_per_message = ticks_per_s / rate;
	schedule->gap =
		(unsigned __int128)(schedule->ticks_per_message * UNIT * (is_poisson ? M_LN2 : 1));
	for (unsigned int i = 0; i <= SCHEDULE_STEPS; i++)
		schedule->logarithm[i] =
			(uint64_t)((1 - log2(1 + (double)i / SCHEDULE_STEPS)) * UNIT);
}

void schedule_seed(struct schedule *schedule, uint64_t seed, uint64_t trial)
{
	uint64_t state = seed;

	schedule->random = random_next(&state) + trial;
	schedule->random = random_next(&schedule->random);
}

void schedule_begin(struct schedule *schedule, uint64_t tick)
{
	schedule->next = (unsigned __int128)tick << 32;
	schedule_advance(schedule);
}

double schedule_count(const struct schedule *schedule, uint64_t tick)
{
	uint64_t next = schedule_next(schedule);

	return next > tick ? 0 : 1 + (double)(tick - next) / schedule->ticks_per_message;
}
