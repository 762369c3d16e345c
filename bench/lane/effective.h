/* SPDX-License-Identifier: MIT */
/*
 * What one end of a case has got, for the result: asked of the device and of the queue
 * pairs themselves, not of what was wanted.
 */
#ifndef BENCH_LANE_EFFECTIVE_H
#define BENCH_LANE_EFFECTIVE_H

#include "bench/lane/lane.h"
#include "reports/result/effective.h"

/*
 * Of a lane that is connected and started, by its first queue pair: all are alike. What
 * cannot be asked there stays unknown, and so does how it posts where it posts nothing.
 */
struct effective lane_effective_find(const struct lane *lane, bool is_posting);

#endif
