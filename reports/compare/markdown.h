/* SPDX-License-Identifier: MIT */
/* A comparison as Markdown, as summaries of jobs show it. */
#ifndef REPORTS_COMPARE_MARKDOWN_H
#define REPORTS_COMPARE_MARKDOWN_H

#include <stdio.h>

#include "reports/compare/compare.h"
#include "reports/table/cells.h"

/*
 * Of no more than room bytes, or of its first and last lines: those that are left out are
 * counted at the end. unit: of bandwidths; NULL: Gb/s.
 */
void compare_markdown(FILE *out, const struct table_unit *unit, const struct comparison *comparison,
		      size_t room);

#endif
