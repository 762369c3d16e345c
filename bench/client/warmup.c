/* SPDX-License-Identifier: MIT */
#include "bench/client/warmup.h"

#define TOLERANCE 0.05

void warmup_add(struct warmup *warmup, double value)
{
	warmup->last[warmup->count % WARMUP_WINDOWS] = value;
	warmup->count++;
}

bool warmup_agrees(const struct warmup *warmup)
{
	double least = warmup->last[0];
	double most = warmup->last[0];

	if (warmup->count < WARMUP_WINDOWS)
		return false;
	for (unsigned int i = 1; i < WARMUP_WINDOWS; i++) {
		least = warmup->last[i] < least ? warmup->last[i] : least;
		most = warmup->last[i] > most ? warmup->last[i] : most;
	}
	return most - least <= TOLERANCE * least;
}
