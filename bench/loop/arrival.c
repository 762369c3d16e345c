/* SPDX-License-Identifier: MIT */
#include "bench/loop/arrival.h"

#include <math.h>

#define UNIT 0x1p32

void arrival_init(struct arrival *arrival, const struct clock *clock, double rate, bool is_poisson)
{
	double ticks_per_s = (double)NS_PER_S * UNIT / (double)clock->mult;

	*arrival = (struct arrival){.is_poisson = is_poisson};
	arrival->ticks_per_message = ticks_per_s / rate;
	arrival->gap =
		(unsigned __int128)(arrival->ticks_per_message * UNIT * (is_poisson ? M_LN2 : 1));
	for (unsigned int i = 0; i <= ARRIVAL_STEPS; i++)
		arrival->logarithm[i] =
			(uint64_t)((1 - log2(1 + (double)i / ARRIVAL_STEPS)) * UNIT);
}

void arrival_seed(struct arrival *arrival, uint64_t seed, uint64_t trial)
{
	uint64_t state = seed;

	arrival->random = random_next(&state) + trial;
	arrival->random = random_next(&arrival->random);
}

void arrival_burst(struct arrival *arrival, uint64_t messages)
{
	arrival->more = messages - 1;
	arrival->gap *= messages;
}

void arrival_begin(struct arrival *arrival, uint64_t tick)
{
	arrival->next = (unsigned __int128)tick << 32;
	arrival->left = 0;
	arrival_advance(arrival);
}

double arrival_count(const struct arrival *arrival, uint64_t tick)
{
	uint64_t next = arrival_next(arrival);

	if (next > tick)
		return 0;
	return (double)(arrival->left + 1) + (double)(tick - next) / arrival->ticks_per_message;
}
