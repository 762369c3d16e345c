/* SPDX-License-Identifier: MIT */
/*
 * The figures of a fleet one by one: each pair has one per case and direction. A figure knows its
 * share of the median, and which of the pair's faults are its own.
 */
#ifndef REPORTS_FLEET_FIGURE_H
#define REPORTS_FLEET_FIGURE_H

#include "reports/fleet/blame/yardstick.h"
#include "reports/fleet/fleet.h"
#include "reports/table/cells.h"

/* A case from one rail to another. */
struct fleet_view {
	uint32_t number; /* of the case */
	uint8_t from_rail;
	uint8_t to_rail;
};

/* One figure of a pair: from node and rail to node and rail. */
struct fleet_figure {
	uint32_t from;
	uint32_t to;
	struct fleet_view view;
	double value;   /* NAN: failed */
	double share;   /* of the median; above 1 is better. NAN: unknown */
	uint8_t faults; /* enum fleet_fault, of this figure; 0: good */
};

/*
 * Returns the figure of a pair for a case, without its share. direction 0: from -> to; 1: to ->
 * from. false: the pair was not measured in this direction.
 */
bool fleet_figure(const struct fleet *fleet, const struct fleet_pair *pair, size_t number,
		  int direction, struct fleet_figure *figure);

/* The same, and sets share and faults. */
bool fleet_judged_figure(const struct yardsticks *yardsticks, const struct fleet_pair *pair,
			 size_t number, int direction, struct fleet_figure *figure);

/* Whether the nodes are in different groups. */
bool fleet_is_between(const struct fleet *fleet, uint32_t from, uint32_t to);

#define FLEET_TEXT 64

/* Returns the unit of a case's figures in reports, and formats a figure in it, or "-" for NAN. */
const char *fleet_unit_name(const struct fleet_case *line, const struct table_unit *unit);
double fleet_unit(const struct fleet_case *line, const struct table_unit *unit);
const char *fleet_value_text(char text[static FLEET_TEXT], const struct fleet_case *line,
			     const struct table_unit *unit, double value);

/* Formats the case and the rails: "write/bw/1m, rail 0" or "write/bw/1m, rail 0 to rail 1". */
#define FLEET_VIEW_TEXT (CASE_ID + 32)
void fleet_view_text(char text[static FLEET_VIEW_TEXT], const struct fleet *fleet,
		     const struct fleet_view *view);

#endif
