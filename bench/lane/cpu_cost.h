/* SPDX-License-Identifier: MIT */
/*
 * The cost of an interval to a thread: its CPU time, its context switches, and the completions and
 * CQ events of its lane.
 */
#ifndef BENCH_LANE_CPU_COST_H
#define BENCH_LANE_CPU_COST_H

#include "bench/lane/lane.h"
#include "reports/result/result.h"

/* Returns the current counters of the calling thread. */
struct result_cost cpu_cost_now(const struct lane *lane);

/* Returns the difference to an earlier reading. */
struct result_cost cpu_cost_since(const struct lane *lane, const struct result_cost *before);

#endif
