/* SPDX-License-Identifier: MIT */
/* The distribution of a case's figures as a chart with a panel per sending rail. */
#ifndef REPORTS_FLEET_PAGE_DISTRIBUTION_H
#define REPORTS_FLEET_PAGE_DISTRIBUTION_H

#include <stdio.h>

#include "reports/fleet/figure.h"

/* unit: of bandwidth, NULL: Gb/s. */
void distribution_print(FILE *out, const struct table_unit *unit, const struct fleet *fleet,
			size_t number);

#endif
