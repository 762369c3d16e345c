/* SPDX-License-Identifier: MIT */
/*
 * The heat maps of a page. A document can have as many views (case, sending and receiving rail) as
 * figures, so only those with the most bad figures are drawn, and the others are listed.
 */
#ifndef REPORTS_FLEET_PAGE_VIEWS_H
#define REPORTS_FLEET_PAGE_VIEWS_H

#include <stdio.h>

#include "reports/fleet/blame/yardstick.h"
#include "reports/table/cells.h"

/* Prints the heat maps. unit: of bandwidth, NULL: Gb/s. Returns 0 or -ENOMEM. */
int views_print(FILE *out, const struct table_unit *unit, const struct yardsticks *yardsticks,
		struct error *error);

#endif
