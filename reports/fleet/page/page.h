/* SPDX-License-Identifier: MIT */
/*
 * A check of a fleet as a section of a page (reports/page/page.h): the culprits first, then heat
 * maps, distributions and the worst figures.
 */
#ifndef REPORTS_FLEET_PAGE_PAGE_H
#define REPORTS_FLEET_PAGE_PAGE_H

#include <stdio.h>

#include "reports/fleet/fleet.h"
#include "reports/table/cells.h"

/* name: of the file; unit: of bandwidth, NULL: Gb/s. Returns 0 or -ENOMEM. */
int fleet_page(FILE *out, const struct table_unit *unit, const struct fleet *fleet,
	       const char *name, struct error *error);

#endif
