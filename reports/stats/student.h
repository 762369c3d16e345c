/* SPDX-License-Identifier: MIT */
/*
 * Student's t: how far a mean of few values may be from
 * where it belongs when their spread is known from themselves alone.
 */
#ifndef REPORTS_STATS_STUDENT_H
#define REPORTS_STATS_STUDENT_H

/*
 * How likely it is to be as far from 0 as t, on either side. freedom: at least 1, and not
 * always whole.
 */
double student_beyond(double t, double freedom);

/* That t which is exceeded, on either side, with this probability: above 0, to 1. */
double student_bound(double probability, double freedom);

#endif
