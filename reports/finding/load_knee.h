/* SPDX-License-Identifier: MIT */
/*
 * The knee of a curve of latency over load: of cases that differ in nothing but their
 * rate, the highest one before the first whose schedule was not kept, or whose p99, the
 * median of its trials', is more than twice that of the lowest rate. Where the schedule of
 * the lowest rate was not kept, it is below that. A case without a known p99 is no point.
 */
#ifndef REPORTS_FINDING_LOAD_KNEE_H
#define REPORTS_FINDING_LOAD_KNEE_H

#include "reports/finding/curve.h"

#define LOAD_KNEE_TIMES 2

/* x: messages per second; y: the p99 in nanoseconds. */
extern const struct curve_kind load_knee_kind;

/* Counts the points before the knee, it included. */
size_t load_knee_count(const struct curve_point *points, size_t n_points);

json_t *load_knees_make(const struct result *result);

#endif
