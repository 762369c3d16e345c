/* SPDX-License-Identifier: MIT */
/* Tables of which operations ran on which transports, one per metric, by completion mode. */
#ifndef REPORTS_FINDING_COVERAGE_H
#define REPORTS_FINDING_COVERAGE_H

#include <stdio.h>

#include "reports/result/result.h"

/*
 * Prints nothing if the result has fewer than two operations or two transports, or if no case
 * was skipped or failed.
 */
void coverage_print(FILE *out, const struct result *result);

#endif
