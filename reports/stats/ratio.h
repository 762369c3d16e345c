/* SPDX-License-Identifier: MIT */
/*
 * Two groups of runs of the same thing: how many times the one is the other, and whether
 * that is more than runs differ among themselves. A run is one value, whatever number of
 * trials and messages it is made of: those of one run have the same machine, memory and
 * minute, and do not tell what the next run has.
 */
#ifndef REPORTS_STATS_RATIO_H
#define REPORTS_STATS_RATIO_H

#include <stdbool.h>
#include <stddef.h>

/* Fewer runs of a side do not tell their spread. */
#define RATIO_RUNS_LEAST 2
/* Beside this many runs of the other side, the spread is assumed to be theirs. */
#define RATIO_RUNS_BESIDE 5

/* Standard error of the logarithm of a ratio, and its degrees of freedom. */
struct ratio_spread {
	double error;
	double freedom;
};

struct ratio {
	double base;  /* geometric mean of the runs */
	double now;   /* the same of the other side */
	double ratio; /* now / base */
	/* The spread between runs, pooled and by side; without it the ratio has no interval. */
	struct ratio_spread spreads[2];
	size_t n_spreads;
	double low; /* 95 % confidence interval; NAN without a spread */
	double high;
};

/* Positive values of the runs of one side. */
struct ratio_side {
	const double *values;
	size_t count; /* at least 1 */
};

/*
 * resolution: of one value, as a part of it. Runs that were rounded to the same value may differ.
 */
void ratio_of(struct ratio *ratio, const struct ratio_side *base, const struct ratio_side *now,
	      double resolution);

/* Whether the spread between runs is known. */
bool ratio_is_known(const struct ratio *ratio);

/*
 * Returns the chance of a ratio as far beyond the threshold (0.05: 5 %), in the direction of this
 * one, if the true ratio were at the threshold. NAN without a spread.
 */
double ratio_beyond(const struct ratio *ratio, double threshold);

/*
 * Returns how far from the threshold the logarithm of a ratio has to be for a chance of at most
 * this. NAN without a spread.
 */
double ratio_reach(const struct ratio *ratio, double chance);

#endif
