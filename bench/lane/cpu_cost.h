/* SPDX-License-Identifier: MIT */
/*
 * What a thread spends between two moments: its processor time, its context
 * switches, the completions and CQ events of its lane.
 */
#ifndef BENCH_LANE_CPU_COST_H
#define BENCH_LANE_CPU_COST_H

#include "bench/lane/lane.h"
#include "reports/result/result.h"

/* The counters as they stand now, of the calling thread. */
struct result_cost cpu_cost_now(const struct lane *lane);

/* What has come to them since. */
struct result_cost cpu_cost_since(const struct lane *lane, const struct result_cost *before);

#endif
