/* SPDX-License-Identifier: MIT */
/*
 * The ratio of two groups of runs, and whether it exceeds the spread between runs. A run is one
 * value, however many trials and messages it has: these share a machine, memory and time, and do
 * not show how runs vary.
 */
#ifndef REPORTS_STATS_RATIO_H
#define REPORTS_STATS_RATIO_H

#include <stdbool.h>
#include <stddef.h>

/* The fewest runs of a side that have a spread. */
#define RATIO_RUNS_LEAST 2
/* If the other side has at least this many runs, a single run is assumed to vary like them. */
#define RATIO_RUNS_BESIDE 5

/* Standard error of the logarithm of a ratio, and its degrees of freedom. */
struct ratio_spread {
	double error;
	double freedom;
};

struct ratio {
	double base;  /* geometric mean of the runs */
	double now;   /* geometric mean of the other side */
	double ratio; /* now / base */
	/* The spread between runs: pooled, and by side. Without it the ratio has no interval. */
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
 * Computes the ratio now / base. resolution: relative step of the values; runs rounded to the same
 * value may differ.
 */
void ratio_of(struct ratio *ratio, const struct ratio_side *base, const struct ratio_side *now,
	      double resolution);

/* Whether the spread between runs is known. */
bool ratio_is_known(const struct ratio *ratio);

/*
 * Returns the chance of a ratio this far beyond the threshold (0.05: 5 %), in its direction, if the
 * true ratio were at the threshold. NAN without a spread.
 */
double ratio_beyond(const struct ratio *ratio, double threshold);

/*
 * Returns how far beyond the threshold the logarithm of a ratio must be for a chance of at most
 * chance. NAN without a spread.
 */
double ratio_reach(const struct ratio *ratio, double chance);

#endif
