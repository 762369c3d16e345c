/* SPDX-License-Identifier: MIT */
#include "reports/stats/proportion.h"

#include <math.h>

/* Of either bound. */
#define MISSED 0.025

/* More halvings change no digit of a double between 0 and 1. */
#define HALVINGS 60

/* The chance of at least so many of all, each of which happens with that chance. */
static double at_least(size_t some, size_t all, double chance)
{
	double sum = 0;

	if (chance <= 0 || chance >= 1)
		return chance >= 1 || !some;
	for (size_t i = some; i <= all; i++)
		sum += exp(lgamma((double)all + 1) - lgamma((double)i + 1) -
			   lgamma((double)(all - i) + 1) + (double)i * log(chance) +
			   (double)(all - i) * log1p(-chance));
	return fmin(sum, 1);
}

/* The chance at which so many or more happen that often: it rises with the chance. */
static double solve(size_t some, size_t all, double wanted)
{
	double low = 0;
	double high = 1;

	for (int i = 0; i < HALVINGS; i++) {
		double middle = (low + high) / 2;

		if (at_least(some, all, middle) < wanted)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

struct proportion proportion_of(size_t some, size_t all)
{
	return (struct proportion){
		.low = some ? solve(some, all, MISSED) : 0,
		.high = some < all ? solve(some + 1, all, 1 - MISSED) : 1,
	};
}
