/* SPDX-License-Identifier: MIT */
/*
 * How many queue pairs a device serves at its full rate. Of bandwidths that differ in nothing
 * else but the number of queue pairs, their depths included, the largest number before the rate of
 * messages falls for good: the next one and all above it have less than 0.8 times the best
 * rate of those below. That is where what a device, or its host, keeps of queue pairs has no
 * room any more.
 */
#ifndef REPORTS_FINDING_QP_LIMIT_H
#define REPORTS_FINDING_QP_LIMIT_H

#include "reports/finding/curve.h"

#define QP_LIMIT_FALL 0.8

/* x: queue pairs of all threads; y: messages per second. */
extern const struct curve_kind qp_limit_kind;

/* Counts the points before the fall. */
size_t qp_limit_count(const struct curve_point *points, size_t n_points);

json_t *qp_limits_make(const struct result *result);

#endif
