/* SPDX-License-Identifier: MIT */
/*
 * Curves in a result: cases that differ in one number alone, such as the rate of a load, and
 * what was measured of each. Finds the last point of each curve before a break, such as a knee,
 * which its kind defines. A case that has failed, or was not measured well enough, is no point:
 * it is listed beside the curve.
 */
#ifndef REPORTS_FINDING_CURVE_H
#define REPORTS_FINDING_CURVE_H

#include "reports/result/result.h"

/* Below that many points there is no curve. */
#define CURVE_LEAST 3
#define CURVE_TEXT  512

struct curve_point {
	double x;          /* what the cases differ in */
	double y;          /* what was measured: the median over trials */
	bool is_pooled;    /* not that: no trial alone has enough messages, all together do */
	bool is_saturated; /* of a load: the schedule was not kept */
	const struct result_case *line;
};

struct curve {
	struct curve_point lowest; /* by x */
	struct curve_point best;   /* by y, of those up to at */
	bool is_below;             /* the break is before the lowest point; at is zeroed then */
	struct curve_point at;     /* the last point before the break, or of all */
	bool has_beyond;           /* there is a break */
	struct curve_point beyond;
	json_t *left_out; /* cases that are no points: an array of {"case", "reason"} */
};

struct curves {
	struct curve *curve;
	size_t count;
};

struct curve_kind {
	/* Names the curve that a case is of, for curves_open to free; NULL: none of this kind. */
	char *(*name)(const struct result_case *line);
	/* Sets x and y, at least. Returns why the case is no point, or NULL. */
	const char *(*measure)(struct curve_point *point, const struct result_case *line);
	/* Counts the points before the break. They are in the order of x. */
	size_t (*count)(const struct curve_point *points, size_t n_points);
	/* Returns the length of the sentence about a curve. */
	int (*tell)(const struct curve *curve, char text[static CURVE_TEXT]);
	json_t *(*make)(const struct curve *curve);
};

/* All curves of a kind; none where there is no memory for them. */
void curves_open(struct curves *curves, const struct result *result, const struct curve_kind *kind);
void curves_close(struct curves *curves);

/* For tables: the sentence about a curve, with the cases that were left out. */
void curve_tell(const struct curve *curve, const struct curve_kind *kind,
		char text[static CURVE_TEXT]);

/* For documents; NULL: there is no curve of the kind. */
json_t *curves_make(const struct result *result, const struct curve_kind *kind);

#endif
