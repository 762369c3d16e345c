/* SPDX-License-Identifier: MIT */
/*
 * The effective settings of one side of a case, for the result. They are queried from the device
 * and the queue pairs, not copied from the request.
 */
#ifndef BENCH_LANE_EFFECTIVE_H
#define BENCH_LANE_EFFECTIVE_H

#include "bench/lane/lane.h"
#include "reports/result/effective.h"

/*
 * Returns the settings of a lane that is connected and started, taken from its first queue pair,
 * because all are alike. Settings that cannot be queried stay unknown; so does the way of posting
 * if is_posting is false.
 */
struct effective lane_effective_find(const struct lane *lane, bool is_posting);

#endif
