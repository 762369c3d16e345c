/* SPDX-License-Identifier: MIT */
/*
 * Curves in a result: cases that differ in one number only, such as the offered rate, and the
 * figure measured at each. Finds the last point before a break, such as a knee; each kind of curve
 * defines its break. A case that failed or was measured too coarsely is not a point; left_out lists
 * it.
 */
#ifndef REPORTS_FINDING_CURVE_H
#define REPORTS_FINDING_CURVE_H

#include "reports/result/result.h"

/* Fewer points are not a curve. */
#define CURVE_LEAST 3
#define CURVE_TEXT  512

struct curve_point {
	double x;          /* the varied parameter */
	double y;          /* the measured figure: the median over trials */
	bool is_pooled;    /* y is pooled over all trials; single trials have too few messages */
	bool is_saturated; /* load cases: the schedule was not kept */
	const struct result_case *line;
};

struct curve {
	struct curve_point lowest; /* smallest x */
	struct curve_point best;   /* largest y up to at */
	bool is_below;             /* the break is before the lowest point; at is zeroed then */
	struct curve_point at; /* the last point before the break; without one, the last point */
	bool has_beyond;       /* there is a break */
	struct curve_point beyond; /* the first point after the break */
	json_t *left_out;          /* cases without a point: an array of {"case", "reason"} */
};

struct curves {
	struct curve *curve;
	size_t count;
};

struct curve_kind {
	/* Returns the name of the case's curve, which the caller frees; NULL: not of this kind. */
	char *(*name)(const struct result_case *line);
	/* Sets at least x and y. Returns why the case is not a point, or NULL. */
	const char *(*measure)(struct curve_point *point, const struct result_case *line);
	/* Returns the number of points before the break. Points are sorted by x. */
	size_t (*count)(const struct curve_point *points, size_t n_points);
	/* Describes a curve. Returns the length of the sentence. */
	int (*describe)(const struct curve *curve, char text[static CURVE_TEXT]);
	json_t *(*make)(const struct curve *curve);
};

/* Finds all curves of a kind; finds none if memory runs out. */
void curves_open(struct curves *curves, const struct result *result, const struct curve_kind *kind);
void curves_close(struct curves *curves);

/* Describes a curve in one sentence, with the omitted cases. */
void curve_tell(const struct curve *curve, const struct curve_kind *kind,
		char text[static CURVE_TEXT]);

/* Returns the curves of a kind for the document; NULL: none. */
json_t *curves_make(const struct result *result, const struct curve_kind *kind);

#endif
