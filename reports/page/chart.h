/* SPDX-License-Identifier: MIT */
/*
 * A figure of several panels. Points are added by the name of their panel and series, in any
 * order, and printed together with a table of the same values. Points beyond the limits below are
 * dropped and counted, which bounds the size of a page.
 */
#ifndef REPORTS_PAGE_CHART_H
#define REPORTS_PAGE_CHART_H

#include "reports/page/svg_panel.h"

/* These keep a page below 2 MB. */
#define CHART_POINTS 2000
#define CHART_PANELS 40
#define CHART_SERIES 12

struct chart_panel;

struct chart {
	const char *title;
	const char *says; /* caption below the title */
	enum svg_panel_mark mark;
	struct axis x; /* opened by the caller, with title */
	struct axis y;
	struct svg_panel_level level; /* name NULL: none */
	bool is_shared;               /* all panels have the same axes */
	bool is_told_elsewhere;       /* omit the table: the page has the values in another */
	size_t least;                 /* a panel is drawn if a series has this many points */
	size_t least_series;          /* and it has this many series */
	size_t n_open;                /* further panels are folded; 0: none is */
	size_t most;                  /* points in total; 0: CHART_POINTS */
	bool is_thinned;              /* some sizes were omitted; the page says so */
	struct chart_panel *panels;
	size_t n_panels;
	size_t n_points;
	size_t left_out;
	char looks[CHART_SERIES][SVG_PANEL_NAME]; /* names of all series; the index is their look */
	size_t n_looks;
};

/* Returns whether a panel can take this many more points. */
bool chart_has_room(const struct chart *chart, const char *panel, size_t n_points);

/* Adds a point, or drops it if memory runs out. id and note stay the caller's. */
void chart_add(struct chart *chart, const char *panel, const char *series,
	       const struct svg_panel_point *point);

/* Prints the panels that have enough points, if any, and frees all points. */
void chart_print(FILE *out, struct chart *chart);

/* Frees all points without printing. */
void chart_finish(struct chart *chart);

#endif
