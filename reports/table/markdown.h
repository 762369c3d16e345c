/* SPDX-License-Identifier: MIT */
/*
 * Results as Markdown with tables, for job summaries. Text from documents is escaped, so that it is
 * never taken for markup.
 */
#ifndef REPORTS_TABLE_MARKDOWN_H
#define REPORTS_TABLE_MARKDOWN_H

#include <stdio.h>

#include "reports/table/cells.h"

/* Limit of the output in bytes: job summaries accept 1 MiB. */
#define MARKDOWN_MOST 1000000

/*
 * Adds a result as a section of at most room bytes. Omitted lines are counted in a last line, which
 * is printed even if there is no room. name: of the file; unit: of bandwidths, NULL: Gb/s.
 */
void markdown_add(FILE *out, const struct table_unit *unit, const struct result *result,
		  const char *name, size_t room);

#endif
