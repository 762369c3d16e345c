/* SPDX-License-Identifier: MIT */
/*
 * A figure of a case with its confidence interval. Latencies come from the pooled histogram of all
 * messages, rates are medians over trials. The interval of the median over trials is extended to
 * contain the figure.
 */
#ifndef REPORTS_FINDING_BOUNDED_H
#define REPORTS_FINDING_BOUNDED_H

#include "reports/result/result.h"
#include "reports/stats/interval.h"

struct bounded {
	double value; /* NAN: unknown */
	double low;   /* low and high are NAN with fewer than six trials */
	double high;
};

/* Adds the interval of a median over trials to a figure. */
void bounded_by(struct bounded *figure, const struct interval *interval, double value);

/*
 * Adds the interval to a figure; first points at the figure in the first trial. These return 0, or
 * -ENOMEM without an interval.
 */
int bounded_of(struct bounded *figure, const struct result_case *line, const double *first,
	       double value);

/* Computes statistics[number] of a case with trials and latencies, in nanoseconds. */
int bounded_statistic(struct bounded *figure, const struct result_case *line, size_t number);

/* Computes the statistic with that key, in nanoseconds; unknown if the case lacks it. */
void bounded_latency(struct bounded *figure, const struct result_case *line, const char *key);

/* Computes the messages per second in one direction, as in the document; bandwidth cases only. */
int bounded_rate(struct bounded *figure, const struct result_case *line);

void bounded_scale(struct bounded *figure, double factor);

#endif
