/* SPDX-License-Identifier: MIT */
/*
 * The axis of a figure: where on it a value lies, and at which values it has ticks. Values
 * are those of documents, such as ns; ticks are round in the unit that people read.
 */
#ifndef REPORTS_PAGE_AXIS_H
#define REPORTS_PAGE_AXIS_H

#include <stdbool.h>
#include <stddef.h>

#include "reports/page/html.h"

enum axis_scale {
	AXIS_LINEAR, /* from zero */
	AXIS_RANGE,  /* from the least value that there is */
	AXIS_LOG,    /* what is not above its floor lies at its beginning */
	AXIS_SIZES,  /* the same, with ticks at powers of two */
	AXIS_NINES,  /* parts of 1, each nine as wide as the one before */
	AXIS_RATIO,  /* to be one of the others by what is seen, see axis_settle */
};

struct axis {
	enum axis_scale scale;
	const char *title;
	const char *unit_name; /* empty: of a number */
	double unit;           /* in the values' own */
	double floor;          /* values that are not above it do not make a logarithmic one */
	bool is_counted;       /* of numbers of things: whole ones, and never to be logarithmic */
	bool is_continuous;    /* a line goes on over what others have between its points */
	double least;
	double most;
	double from; /* where they are, in pixels */
	double to;
};

/* least > most: nothing was seen yet. */
void axis_open(struct axis *axis, enum axis_scale scale);

/* It is to reach as far as this value. */
void axis_see(struct axis *axis, double value);

/*
 * Once all were seen, one of ratios becomes logarithmic, where some are many times others, or
 * else shows what lies close together.
 */
void axis_settle(struct axis *axis);

/* Once all were seen: to values that are round, and apart from each other. */
void axis_fit(struct axis *axis);

/* What lies outside is at the nearer end. */
double axis_at(const struct axis *axis, double value);

/* Logarithmic in place of linear, or the other way round; false: neither would do. */
bool axis_switch(struct axis *axis);

const char *axis_scale_name(enum axis_scale scale);

#define AXIS_TICKS 16

struct axis_tick {
	double value;
	char label[HTML_NUMBER];
};

/* How many there are, from the least to the largest. */
size_t axis_ticks(const struct axis *axis, struct axis_tick ticks[static AXIS_TICKS]);

/* A value as a sentence has it. */
void axis_number(const struct axis *axis, double value, char text[static HTML_NUMBER]);

#define AXIS_TEXT 64

/* The same with its unit. */
void axis_tell(const struct axis *axis, double value, char text[static AXIS_TEXT]);

#endif
