/* SPDX-License-Identifier: MIT */
/* A comparison as a table for terminals and logs. */
#ifndef REPORTS_COMPARE_TABLE_H
#define REPORTS_COMPARE_TABLE_H

#include <stdio.h>

#include "reports/compare/compare.h"
#include "reports/table/cells.h"

/* unit: of bandwidths; NULL: Gb/s. */
void compare_table(const struct terminal *terminal, const struct table_unit *unit,
		   const struct comparison *comparison);

#endif
