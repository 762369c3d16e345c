/* SPDX-License-Identifier: MIT */
/*
 * A figure of a case, with the interval of its median over trials, for those who show it
 * as a value between two bounds: the value is that median, and so is within them. That of
 * all messages together need not be: one trial that was held up moves it alone.
 */
#ifndef REPORTS_FINDING_BOUNDED_H
#define REPORTS_FINDING_BOUNDED_H

#include "reports/result/result.h"

struct bounded {
	double value; /* NAN: not known */
	double low;   /* NAN, and so with high: trials are too few for 95 % */
	double high;
};

/*
 * Of a case with trials: first is the figure of the first one. pooled: that of all of them
 * together, which stands alone where single trials have too few messages for it.
 */
void bounded_of(struct bounded *figure, const struct result_case *line, const double *first,
		double pooled);

/* The statistic of that key, in nanoseconds. */
void bounded_latency(struct bounded *figure, const struct result_case *line, const char *key);

/* Messages per second, one direction, as documents have them; of a bandwidth alone. */
void bounded_rate(struct bounded *figure, const struct result_case *line);

void bounded_scale(struct bounded *figure, double factor);

#endif
