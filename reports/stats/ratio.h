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
/* But beside so many of the other one it is taken to be theirs. */
#define RATIO_RUNS_BESIDE 5

struct ratio {
	double base;   /* the geometric mean of its runs */
	double now;    /* of the other ones */
	double ratio;  /* now / base */
	bool is_known; /* the spread from run to run, without which there is no: */
	double low;    /* of 95 % */
	double high;
	double chance; /* that equal ones would be as far apart: p, on both sides */
};

/* Positive values of the runs of one side. */
struct ratio_side {
	const double *values;
	size_t count; /* at least 1 */
};

/*
 * resolution: of one value, as a part of it. What all runs were rounded to is no sign that
 * they do not differ.
 */
void ratio_of(struct ratio *ratio, const struct ratio_side *base, const struct ratio_side *now,
	      double resolution);

#endif
