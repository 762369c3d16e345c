/* SPDX-License-Identifier: MIT */
/*
 * One panel of a figure as SVG: axes, lines with markers and bands, or bars. It uses attributes
 * only, so it looks the same where a content policy forbids style and script. Names in the legend
 * have data-label, and the marks of that series data-series. Colors are visible on light and dark backgrounds, and series also
 * differ in marker and dash. Each marker has its exact values in data-x, data-y, data-low,
 * data-high and data-case, and in its title.
 * A panel may have a second, hidden pair of axes. Each path then has the absolute part of its data
 * for that pair in data-d. Groups that exist once per pair have data-either, and the second
 * has display="none". page.js swaps the two.
 */
#ifndef REPORTS_PAGE_SVG_PANEL_H
#define REPORTS_PAGE_SVG_PANEL_H

#include <stdio.h>

#include "reports/page/axis.h"

struct svg_panel_point {
	double x;
	double y;
	double low; /* of the interval; NAN: none. Of a bar: along x */
	double high;
	const char *id;   /* of the case */
	const char *note; /* shown after the values, or NULL */
};

/* Names of series include the parameters of a case. */
#define SVG_PANEL_NAME 160

struct svg_panel_series {
	char name[SVG_PANEL_NAME];
	size_t look; /* selects color, dashes and marker */
	struct svg_panel_point *points;
	size_t n_points;
};

enum svg_panel_mark {
	SVG_PANEL_LINES,
	SVG_PANEL_BARS,      /* from low to high along x, and up to y */
	SVG_PANEL_INTERVALS, /* from low to high along x, one below the other; y is the row */
};

/* A line across the panel, such as the link rate. */
struct svg_panel_level {
	double value;
	const char *name;
};

#define SVG_PANEL_TITLE 1024

struct svg_panel_axes {
	struct axis x;
	struct axis y;
};

struct svg_panel {
	char title[SVG_PANEL_TITLE];
	enum svg_panel_mark mark;
	struct svg_panel_axes axes[2]; /* as drawn, and with the other scale */
	size_t n_axes;
	const struct svg_panel_level *level; /* along y, for intervals along x; or NULL */
	struct svg_panel_series *series;
	size_t n_series;
};

#define SVG_PANEL_WIDTH 360

/* Places the axes, which must be fitted, and prints the panel. */
void svg_panel_print(FILE *out, struct svg_panel *plot);

#endif
