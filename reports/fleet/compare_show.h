/* SPDX-License-Identifier: MIT */
/* A comparison of fleets in the formats of 'verbmark compare'. unit: of bandwidth; NULL: Gb/s. */
#ifndef REPORTS_FLEET_COMPARE_SHOW_H
#define REPORTS_FLEET_COMPARE_SHOW_H

#include <stdio.h>

#include "reports/fleet/compare.h"

void fleet_comparison_table(const struct terminal *terminal, const struct table_unit *unit,
			    const struct fleet_comparison *comparison);
void fleet_comparison_page(FILE *out, const struct table_unit *unit,
			   const struct fleet_comparison *comparison);
void fleet_comparison_markdown(FILE *out, const struct table_unit *unit,
			       const struct fleet_comparison *comparison, size_t room);
void fleet_comparison_csv(FILE *out, const struct fleet_comparison *comparison);

/* Returns a document of the schema FLEET_COMPARISON_SCHEMA; NULL: out of memory. */
json_t *fleet_comparison_make(const struct fleet_comparison *comparison, const char *version);

#endif
