/* SPDX-License-Identifier: MIT */
/* The key figures of a result, at the top of its page. */
#ifndef REPORTS_PAGE_TILES_H
#define REPORTS_PAGE_TILES_H

#include <stdio.h>

#include "reports/table/cells.h"

/* Prints nothing if no case has figures. */
void tiles_print(FILE *out, const struct table_unit *unit, const struct result *result);

#endif
