/* SPDX-License-Identifier: MIT */
/*
 * One panel of a figure as SVG: axes, lines with markers and bands, or bars. It has no style
 * and no script: attributes alone, in colours that are seen on light and dark and are told
 * apart by the shape of their markers and lines as well. Each marker carries its values
 * exactly, in data-x, data-y, data-low, data-high, data-case, and tells them in its title.
 * A panel may have a second pair of axes, which is not shown: a path has the absolute part of its
 * data for that pair in data-d, and groups that exist once for each pair have data-either, and
 * display="none" for the second. page.js exchanges the two.
 */
#ifndef REPORTS_PAGE_SVG_PANEL_H
#define REPORTS_PAGE_SVG_PANEL_H

#include <stdio.h>

#include "reports/page/axis.h"

struct svg_panel_point {
	double x;
	double y;
	double low; /* of an interval, NAN: there is none; of a bar, along x */
	double high;
	const char *id;   /* of the case */
	const char *note; /* behind its values, or NULL */
};

/* Of a series: with all that a case was asked for. */
#define SVG_PANEL_NAME 160

struct svg_panel_series {
	char name[SVG_PANEL_NAME];
	size_t look; /* colour, dashes, marker */
	struct svg_panel_point *points;
	size_t n_points;
};

enum svg_panel_mark {
	SVG_PANEL_LINES,
	SVG_PANEL_BARS,      /* from low to high along x, and up to y */
	SVG_PANEL_INTERVALS, /* from low to high along x, one below the other: y is its number */
};

/* A line across, such as the link's rate. */
struct svg_panel_level {
	double value;
	const char *name;
};

#define SVG_PANEL_TITLE 1024

/* Letters and digits alone: in what ids of elements are made of, others have a meaning. */
#define SVG_PANEL_KEY 24

struct svg_panel_axes {
	struct axis x;
	struct axis y;
};

struct svg_panel {
	char title[SVG_PANEL_TITLE];
	const char *key; /* of what hides series, see svg_panel_switch; NULL: nothing does */
	enum svg_panel_mark mark;
	struct svg_panel_axes axes[2]; /* as drawn, and with another scale */
	size_t n_axes;
	const struct svg_panel_level *level; /* of y, or of x where there are intervals; or NULL */
	struct svg_panel_series *series;
	size_t n_series;
};

#define SVG_PANEL_WIDTH 360

/*
 * The ids of the two controls that show and hide the series of that look, in all panels of the
 * key: "s" and "h" behind this. They work by SMIL, which asks for neither script nor style; it
 * has no memory, and so one control cannot do both.
 */
void svg_panel_switch(char id[static SVG_PANEL_KEY], const char *key, size_t look);

/* Lays out the axes, which are fitted, and prints it. */
void svg_panel_print(FILE *out, struct svg_panel *plot);

#endif
