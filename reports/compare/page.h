/* SPDX-License-Identifier: MIT */
/*
 * A comparison as a section of a page, see page.h: the ratios as a figure, with their
 * intervals and verdicts, the same as tables, and the circumstances that differ.
 */
#ifndef REPORTS_COMPARE_PAGE_H
#define REPORTS_COMPARE_PAGE_H

#include <stdio.h>

#include "reports/compare/compare.h"
#include "reports/table/cells.h"

/* Judged. unit: of bandwidths; NULL: Gb/s. */
void compare_page(FILE *out, const struct table_unit *unit, const struct comparison *comparison);

/* Where nothing may be compared: why. */
void compare_page_refused(FILE *out, const char *why);

#endif
