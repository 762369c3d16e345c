/* SPDX-License-Identifier: MIT */
/* The trials of a case by one of their figures: its median over them, with the interval. */
#ifndef REPORTS_RESULT_TRIALS_H
#define REPORTS_RESULT_TRIALS_H

#include "reports/result/result.h"
#include "reports/stats/interval.h"

/* of: which figure, as the function knows it. NAN: it is not known. */
typedef double trials_value(const struct result_trial *trial, const void *of);

/* -ENODATA: it is not known of all trials, or there are none; -ENOMEM. */
int trials_interval_of(struct interval *interval, const struct result_case *line,
		       trials_value *value, const void *of, struct error *error);

/* The same of a member: first is that of the first trial. */
int trials_interval(struct interval *interval, const struct result_case *line, const double *first,
		    struct error *error);

#endif
