/* SPDX-License-Identifier: MIT */
/*
 * The knee of a latency-load curve: among cases that differ only in their rate, the highest rate
 * before the first that was saturated or whose p99 (median over trials) is more than twice the p99
 * of the lowest rate. If the lowest rate was saturated, the knee is below it. A case without a
 * known p99 is not a point.
 */
#ifndef REPORTS_FINDING_LOAD_KNEE_H
#define REPORTS_FINDING_LOAD_KNEE_H

#include "reports/finding/curve.h"

#define LOAD_KNEE_TIMES 2

/* x: messages per second; y: the p99 in nanoseconds. */
extern const struct curve_kind load_knee_kind;

/* Returns the number of points up to and including the knee. */
size_t load_knee_count(const struct curve_point *points, size_t n_points);

json_t *load_knees_make(const struct result *result);

#endif
