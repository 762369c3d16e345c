/* SPDX-License-Identifier: MIT */
/*
 * A result as a table for terminals and logs: microseconds, aligned, a line for
 * each case as it ends.
 */
#ifndef REPORTS_TABLE_H
#define REPORTS_TABLE_H

#include <stdio.h>

#include "reports/result.h"

/* The two ends, and the titles of the columns. */
void table_head(FILE *out, const struct result *result);

void table_line(FILE *out, const struct result_case *line);

#endif
