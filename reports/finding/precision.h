/* SPDX-License-Identifier: MIT */
/*
 * How precisely the cases of a run with a budget are known: the width of the confidence interval of
 * a case's main figure, relative to the median over trials.
 */
#ifndef REPORTS_FINDING_PRECISION_H
#define REPORTS_FINDING_PRECISION_H

#include <stdio.h>

#include "reports/result/result.h"

/*
 * Returns the relative width for the message rate of a bandwidth case, or otherwise for the median
 * latency; for trials with too few messages for one, for the mean. NAN without a 95 % interval.
 */
double precision_width(const struct result_case *line);

/* Returns the relative width that the run was to reach; NAN: the case had no budget. */
double precision_wanted(const struct result_case *line);

/* Prints how many trials the cases had, and which did not reach the precision, if any was wanted. */
void precision_print(FILE *out, const struct result *result);

#endif
