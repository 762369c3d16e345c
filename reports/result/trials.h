/* SPDX-License-Identifier: MIT */
/* The median of a figure over the trials of a case, with its confidence interval. */
#ifndef REPORTS_RESULT_TRIALS_H
#define REPORTS_RESULT_TRIALS_H

#include "reports/result/result.h"
#include "reports/stats/interval.h"

/* Returns a figure of a trial; NAN: unknown. of: tells the function which one. */
typedef double trials_value(const struct result_trial *trial, const void *of);

/* Returns -ENODATA if there are no trials or one lacks the figure, or -ENOMEM. */
int trials_interval_of(struct interval *interval, const struct result_case *line,
		       trials_value *value, const void *of, struct error *error);

/* Does the same for a member of struct result_trial; first: the member of the first trial. */
int trials_interval(struct interval *interval, const struct result_case *line, const double *first,
		    struct error *error);

#endif
