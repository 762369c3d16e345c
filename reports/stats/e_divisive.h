/* SPDX-License-Identifier: MIT */
/*
 * E-divisive (Matteson and James, JASA 109, 2014, with exponent 1): finds where the distribution of
 * a sequence changes, without assumptions about it. A segment is divided where the energy distance
 * between its two parts is largest, as long as shuffled values rarely reach that distance. Random
 * numbers depend on the seed only: the same values give the same places on every machine.
 */
#ifndef REPORTS_STATS_E_DIVISIVE_H
#define REPORTS_STATS_E_DIVISIVE_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

/* More values are rejected: memory grows with the square of their number. */
#define E_DIVISIVE_MOST 300

struct e_divisive_rule {
	size_t least;          /* fewest values of a segment; at least 2 */
	double level;          /* p of a division is below this */
	unsigned int shuffles; /* number of shuffles to estimate p */
	uint64_t seed;         /* of the shuffles */
};

/* The best division of a sequence: between [0, at) and [at, end). */
struct e_divisive_place {
	size_t at;
	size_t end;
	double statistic; /* negative: no place */
};

/* Returns the fewest shuffles with which p can be below that level. */
unsigned int e_divisive_shuffles(double level);

/* Returns the scaled energy distance between [0, at) and [at, count), each two values or more. */
double e_divisive_distance(const double *values, size_t at, size_t count);

/*
 * Computes p: the share of orders, including the original one, with at least that distance. Stops
 * and sets p to 1 once it cannot be below the level any more. -ENOMEM.
 */
int e_divisive_compare(double *p, const struct e_divisive_rule *rule, const double *values,
		       size_t at, size_t count);

struct e_divisive_division {
	size_t at;
	double statistic;
	double p;
};

/*
 * Divides a sequence of at most E_DIVISIVE_MOST values, in order of the divisions. divisions needs
 * room for count elements. -EINVAL: too many values; -ENOMEM.
 */
int e_divisive_divide(const struct e_divisive_rule *rule, const double *values, size_t count,
		      struct e_divisive_division *divisions, size_t *n_divisions,
		      struct error *error);

/* Finds the best place to divide one segment of at most E_DIVISIVE_MOST values. */
int e_divisive_find(struct e_divisive_place *place, const double *values, size_t count,
		    size_t least, struct error *error);

#endif
