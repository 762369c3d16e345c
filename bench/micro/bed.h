/* SPDX-License-Identifier: MIT */
/*
 * A lane on a provider that completes at once. Everything that the loops use is set up by
 * lane_receive and lane_start as for a device, but no device is opened. The bed owns everything
 * and must not move, because the lane points into it.
 */
#ifndef BENCH_MICRO_BED_H
#define BENCH_MICRO_BED_H

#include "bench/loop/load.h"
#include "bench/micro/instant.h"
#include "bench/op/op.h"
#include "core/rdma/context.h"

struct bed_settings {
	enum operation_number op;
	enum metric metric;
	enum post_path path;
	enum instant_peer peer;
	unsigned int qps;       /* 1 if 0 */
	unsigned int post_list; /* 1 if 0 */
	enum transport transport;
	enum cq cq; /* on both sides */
	bool latencies;
	enum access access;
	unsigned int sge; /* 1 if 0 */
	bool is_both;     /* bidirectional */
	bool is_poisson;  /* for a load */
	bool is_verified; /* every message; the peer echoes what was sent */
};

struct bed {
	struct lane lane;
	struct load load; /* all messages are due at once */
	struct hist hist;
	struct pace pace;
	struct rdma_state *states; /* one per flow */
	struct ibv_mr mr;
	struct bed_settings settings;
	struct parameters parameters;
	struct rate_windows windows;
	struct instant instant;
};

int bed_open(struct bed *bed, const struct bed_settings *settings, struct error *error);
void bed_close(struct bed *bed); /* accepts a zeroed bed */

/*
 * Returns a run of that many messages, timed by the CPU's counter. All samples are 0, so that they
 * take the same path through the histogram and instructions can be counted. To measure time, set
 * the members of the clock.
 */
struct loop_run bed_run(struct bed *bed, uint64_t messages);

/* Clears the samples, but not the counters of lane and provider. */
void bed_clear(struct bed *bed);

#endif
