/* SPDX-License-Identifier: MIT */
/*
 * Student's t-distribution: how far the mean of a few values may be from the true mean if their
 * spread is only known from the values themselves.
 */
#ifndef REPORTS_STATS_STUDENT_H
#define REPORTS_STATS_STUDENT_H

/*
 * Returns the probability of a value at least as far from 0 as t, on either side. freedom: at least
 * 1, not necessarily an integer.
 */
double student_beyond(double t, double freedom);

/* Returns the t that is exceeded on either side with that probability (above 0, up to 1). */
double student_bound(double probability, double freedom);

#endif
