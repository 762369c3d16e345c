/* SPDX-License-Identifier: MIT */
/*
 * A comparison as CSV: a row for each figure of each case; rows with a reason for cases that are
 * not compared, or not in all runs, and for figures that are unknown in some runs. Notices that
 * apply to all figures are in every row.
 */
#ifndef REPORTS_COMPARE_CSV_H
#define REPORTS_COMPARE_CSV_H

#include <stdio.h>

#include "reports/compare/compare.h"

void compare_csv(FILE *out, const struct comparison *comparison);

#endif
