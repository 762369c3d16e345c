/* SPDX-License-Identifier: MIT */
/*
 * The number of queue pairs that a device serves at full rate: among bandwidth cases that differ
 * only in the number of queue pairs (same depths), the largest number before the message rate drops
 * for good: the next case and all above it stay below 0.8 times the best rate before them. Beyond
 * it, queue pair state no longer fits into the caches of the device or host.
 */
#ifndef REPORTS_FINDING_QP_LIMIT_H
#define REPORTS_FINDING_QP_LIMIT_H

#include "reports/finding/curve.h"

#define QP_LIMIT_FALL 0.8

/* x: queue pairs over all threads; y: messages per second. */
extern const struct curve_kind qp_limit_kind;

/* Returns the number of points before the drop. */
size_t qp_limit_count(const struct curve_point *points, size_t n_points);

json_t *qp_limits_make(const struct result *result);

#endif
