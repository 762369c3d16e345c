/* SPDX-License-Identifier: MIT */
/*
 * Results as Markdown with tables, as summaries of jobs show them. What a document has of
 * others' words is escaped: it is text, and no markup.
 */
#ifndef REPORTS_TABLE_MARKDOWN_H
#define REPORTS_TABLE_MARKDOWN_H

#include <stdio.h>

#include "reports/table/cells.h"

/* Bytes of all that is written: those who show it take a mebibyte. */
#define MARKDOWN_MOST 1000000

/*
 * A section of its own, of no more than room bytes, or of one line: those that are left out
 * are counted at its end. name: of the file; unit: of bandwidths; NULL: Gb/s.
 */
void markdown_add(FILE *out, const struct table_unit *unit, const struct result *result,
		  const char *name, size_t room);

#endif
