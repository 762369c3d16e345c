/* SPDX-License-Identifier: MIT */
#include "bench/client/warmup.h"

#define TOLERANCE 0.05

void steady_add(struct steady *steady, double value)
{
	steady->last[steady->count % STEADY_WINDOWS] = value;
	steady->count++;
}

bool steady_agrees(const struct steady *steady)
{
	double least = steady->last[0];
	double most = steady->last[0];

	if (steady->count < STEADY_WINDOWS)
		return false;
	for (unsigned int i = 1; i < STEADY_WINDOWS; i++) {
		least = steady->last[i] < least ? steady->last[i] : least;
		most = steady->last[i] > most ? steady->last[i] : most;
	}
	return most - least <= TOLERANCE * least;
}
