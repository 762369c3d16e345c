/* SPDX-License-Identifier: MIT */
/* A table of which operations ran on which transports, by metric and completion mode. */
#ifndef REPORTS_FINDING_COVERAGE_H
#define REPORTS_FINDING_COVERAGE_H

#include <stdio.h>

#include "reports/result/result.h"

/* Prints nothing if the result has fewer than three operations or three transports. */
void coverage_print(FILE *out, const struct result *result);

#endif
