/* SPDX-License-Identifier: MIT */
/* A comparison as Markdown, for job summaries. */
#ifndef REPORTS_COMPARE_MARKDOWN_H
#define REPORTS_COMPARE_MARKDOWN_H

#include <stdio.h>

#include "reports/compare/compare.h"
#include "reports/table/cells.h"

/*
 * Writes at most room bytes: what does not fit is omitted between the first and the last lines, and
 * counted at the end. unit: of bandwidths; NULL: Gb/s.
 */
void compare_markdown(FILE *out, const struct table_unit *unit, const struct comparison *comparison,
		      size_t room);

#endif
