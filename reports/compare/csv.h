/* SPDX-License-Identifier: MIT */
/*
 * A comparison as comma-separated values: a line for each figure of each case, and for each
 * case that is not compared, or not in all runs, and each figure that is not known in all of
 * them, with its reason. What has to stand over all
 * figures stands in each line.
 */
#ifndef REPORTS_COMPARE_CSV_H
#define REPORTS_COMPARE_CSV_H

#include <stdio.h>

#include "reports/compare/compare.h"

void compare_csv(FILE *out, const struct comparison *comparison);

#endif
