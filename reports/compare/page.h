/* SPDX-License-Identifier: MIT */
/*
 * A comparison as a section of a page, see page.h: a chart of the ratios with their intervals and
 * verdicts, the same as tables, and the facts that differ between the setups.
 */
#ifndef REPORTS_COMPARE_PAGE_H
#define REPORTS_COMPARE_PAGE_H

#include <stdio.h>

#include "reports/compare/compare.h"
#include "reports/table/cells.h"

/* Prints a judged comparison. unit: of bandwidths; NULL: Gb/s. */
void compare_page(FILE *out, const struct table_unit *unit, const struct comparison *comparison);

/* Prints why the results cannot be compared. */
void compare_page_refused(FILE *out, const char *why);

#endif
