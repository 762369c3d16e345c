/* SPDX-License-Identifier: MIT */
/*
 * E-divisive (Matteson and James, JASA 109, 2014, with the exponent 1): where in a sequence
 * the distribution changes, whatever it is. Each segment is divided where the energy distance
 * between what is before a place and what is behind it is largest, as long as shuffled values
 * seldom have as large a one. Random numbers come from the seed alone: the same values give
 * the same places, anywhere.
 */
#ifndef REPORTS_STATS_E_DIVISIVE_H
#define REPORTS_STATS_E_DIVISIVE_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

/* More are refused: what it takes grows with their square. */
#define E_DIVISIVE_MOST 300

struct e_divisive_rule {
	size_t least;          /* values of a segment; 2 at the least */
	double level;          /* a division is one where p is below it */
	unsigned int shuffles; /* in which p is counted */
	uint64_t seed;         /* of those */
};

/* Where a sequence is divided best: between [0, at) and [at, end). */
struct e_divisive_place {
	size_t at;
	size_t end;
	double statistic; /* negative: there is no place */
};

/* The fewest shuffles in which p can be below that level. */
unsigned int e_divisive_shuffles(double level);

/* The scaled energy distance between [0, at) and [at, count), each of two values at least. */
double e_divisive_distance(const double *values, size_t at, size_t count);

/*
 * How many of all shuffles, with the order that there is, have that distance or more; once
 * it is too many for the rule, the rest is spared and 1 is told. -ENOMEM.
 */
int e_divisive_compare(double *p, const struct e_divisive_rule *rule, const double *values,
		       size_t at, size_t count);

struct e_divisive_division {
	size_t at;
	double statistic;
	double p;
};

/*
 * All divisions of a sequence of E_DIVISIVE_MOST values at the most, in their order. divisions has
 * room for as many as there are values. -EINVAL: too many values; -ENOMEM.
 */
int e_divisive_divide(const struct e_divisive_rule *rule, const double *values, size_t count,
		      struct e_divisive_division *divisions, size_t *n_divisions,
		      struct error *error);

/* What that looks for: the best place of one segment, of E_DIVISIVE_MOST values at the most. */
int e_divisive_find(struct e_divisive_place *place, const double *values, size_t count,
		    size_t least, struct error *error);

#endif
