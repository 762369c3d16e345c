/* SPDX-License-Identifier: MIT */
/*
 * A check of a fleet for a terminal: one line of summary, then who is to blame, the worst pairs,
 * the spread by case and rail, warnings, and what to do next.
 */
#ifndef REPORTS_FLEET_TABLE_H
#define REPORTS_FLEET_TABLE_H

#include <stdio.h>

#include "reports/fleet/fleet.h"
#include "reports/table/cells.h"

/*
 * Prints it; reasons of blame are always in Gb/s. Returns 0, or -ENOMEM if the worst pairs are
 * missing. Errors of the stream are detected when it is flushed.
 */
int fleet_table(const struct terminal *terminal, const struct table_unit *unit,
		const struct fleet *fleet, struct error *error);

/* Prints "4 nodes, 2 rails; 3 pairs measured; 3 rounds, 2 min 5 s". */
void fleet_table_counts(FILE *out, const struct fleet *fleet);

#endif
