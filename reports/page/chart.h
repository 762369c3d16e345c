/* SPDX-License-Identifier: MIT */
/*
 * A figure of many panels: points are added by the names of their panel and their series,
 * in any order, and then printed, with a table of the same values. What there would be too
 * many of is left out and counted, so that a page stays below its size whatever it is of.
 */
#ifndef REPORTS_PAGE_CHART_H
#define REPORTS_PAGE_CHART_H

#include "reports/page/svg_panel.h"

/* Of a page of 2 MB. */
#define CHART_POINTS 2000
#define CHART_PANELS 40
#define CHART_SERIES 12

struct chart_panel;

struct chart {
	char key[SVG_PANEL_KEY]; /* of its own, in the page */
	const char *title;
	const char *says; /* below the title */
	enum svg_panel_mark mark;
	struct axis x; /* opened, with titles */
	struct axis y;
	struct svg_panel_level level; /* name NULL: there is none */
	bool is_shared;               /* all panels have the same axes */
	bool is_told_elsewhere;       /* by tables of the page: it has none of its own */
	size_t least;                 /* points of a series that make a panel worth while */
	size_t least_series;          /* and so many of them */
	size_t most;                  /* points in all; 0: CHART_POINTS */
	bool is_thinned;              /* not all sizes were added, which is said */
	struct chart_panel *panels;
	size_t n_panels;
	size_t n_points;
	size_t left_out;
	char looks[CHART_SERIES]
		  [SVG_PANEL_NAME]; /* the names of all series, in the order of their looks */
	size_t n_looks;
};

/* Whether so many points of a panel would all be drawn. */
bool chart_has_room(const struct chart *chart, const char *panel, size_t n_points);

/* Where there is no memory, the point is left out. id and note stay the caller's. */
void chart_add(struct chart *chart, const char *panel, const char *series,
	       const struct svg_panel_point *point);

/* Nothing of one without a panel that is worth while; and it is empty then. */
void chart_print(FILE *out, struct chart *chart);

/* Prints nothing. */
void chart_finish(struct chart *chart);

#endif
