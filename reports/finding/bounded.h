/* SPDX-License-Identifier: MIT */
/*
 * A figure of a case, as a value with a confidence interval: the median over trials and its
 * interval, so the value always lies within its bounds. The pooled figure need not: a single
 * stalled trial can move it out of them.
 */
#ifndef REPORTS_FINDING_BOUNDED_H
#define REPORTS_FINDING_BOUNDED_H

#include "reports/result/result.h"

struct bounded {
	double value; /* NAN: unknown */
	double low;   /* low and high are NAN with too few trials for a 95 % interval */
	double high;
};

/*
 * Computes the figure of a case with trials. first points at the figure in the first trial. pooled
 * is the figure of all messages; it is used, without bounds, if single trials have too few
 * messages.
 */
void bounded_of(struct bounded *figure, const struct result_case *line, const double *first,
		double pooled);

/* Computes the statistic with that key, in nanoseconds. */
void bounded_latency(struct bounded *figure, const struct result_case *line, const char *key);

/* Computes the messages per second in one direction, as in the document; bandwidth cases only. */
void bounded_rate(struct bounded *figure, const struct result_case *line);

void bounded_scale(struct bounded *figure, double factor);

#endif
