/* SPDX-License-Identifier: MIT */
/*
 * The axis of a figure: maps values to pixels and chooses ticks. Values are in the unit of
 * documents, such as ns; ticks are round numbers in the unit that readers see.
 */
#ifndef REPORTS_PAGE_AXIS_H
#define REPORTS_PAGE_AXIS_H

#include <stdbool.h>
#include <stddef.h>

#include "reports/page/html.h"

enum axis_scale {
	AXIS_LINEAR, /* from zero */
	AXIS_RANGE,  /* from the smallest value */
	AXIS_LOG,    /* values not above the floor are drawn at its start */
	AXIS_SIZES,  /* logarithmic, with ticks at powers of two */
	AXIS_NINES,  /* fractions of 1; each further nine takes the same width */
	AXIS_RATIO,  /* undecided; axis_settle picks AXIS_LOG or AXIS_RANGE */
};

struct axis {
	enum axis_scale scale;
	const char *title;
	const char *unit_name; /* empty: no unit */
	double unit;           /* in units of the values */
	double floor;          /* a logarithmic axis ignores values at or below it */
	bool is_counted;       /* counts: whole numbers, never logarithmic */
	bool is_continuous;    /* lines are not broken where another series has a point between */
	double least;
	double most;
	double from; /* pixels of least and most */
	double to;
};

/* Initializes an axis without values, where least > most. */
void axis_open(struct axis *axis, enum axis_scale scale);

/* Extends the axis to this value. */
void axis_include(struct axis *axis, double value);

/*
 * Chooses the scale of AXIS_RATIO once all values are included: logarithmic if they spread widely,
 * otherwise linear from the smallest.
 */
void axis_settle(struct axis *axis);

/* Rounds both ends outward once all values are included, and keeps them distinct. */
void axis_fit(struct axis *axis);

/* Returns the pixel of a value. Values outside the axis are drawn at the nearer end. */
double axis_at(const struct axis *axis, double value);

/* Switches between linear and logarithmic. Returns false if the axis has no other scale. */
bool axis_switch(struct axis *axis);

const char *axis_scale_name(enum axis_scale scale);

#define AXIS_TICKS 16

struct axis_tick {
	double value;
	char label[HTML_NUMBER];
};

/* Fills in the ticks in ascending order and returns their number. */
size_t axis_ticks(const struct axis *axis, struct axis_tick ticks[static AXIS_TICKS]);

/* Formats a value for a sentence, in the unit of the axis. */
void axis_number(const struct axis *axis, double value, char text[static HTML_NUMBER]);

#define AXIS_TEXT 64

/* Formats a value with its unit. */
void axis_text(const struct axis *axis, double value, char text[static AXIS_TEXT]);

#endif
