/* SPDX-License-Identifier: MIT */
#include "bench/client/warmup.h"

#define TOLERANCE 0.05

void warmup_add(struct warmup *steady, double value)
{
	steady->last[steady->count % WARMUP_WINDOWS] = value;
	steady->count++;
}

bool warmup_agrees(const struct warmup *steady)
{
	double least = steady->last[0];
	double most = steady->last[0];

	if (steady->count < WARMUP_WINDOWS)
		return false;
	for (unsigned int i = 1; i < WARMUP_WINDOWS; i++) {
		least = steady->last[i] < least ? steady->last[i] : least;
		most = steady->last[i] > most ? steady->last[i] : most;
	}
	return most - least <= TOLERANCE * least;
}
