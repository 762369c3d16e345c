/* SPDX-License-Identifier: MIT */
/*
 * A lane on a provider that completes at once: all that the loops look at is made as for
 * a device, by lane_receive and lane_start, and none is opened. The bed owns all of it,
 * and stays where it is: the lane points into it.
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
	enum cq cq; /* of both ends */
	bool latencies;
	enum access access;
	unsigned int sge; /* 1 if 0 */
	bool is_both;     /* ways at once */
	bool is_poisson;  /* of a load */
	bool is_verified; /* each message; what comes back is what was sent */
};

struct bed {
	struct lane lane;
	struct load load; /* all of it is due at once */
	struct hist hist;
	struct pace pace;
	struct rdma_state *states; /* one for each flow */
	struct ibv_mr mr;
	struct bed_settings settings;
	struct parameters parameters;
	struct rate_windows windows;
	struct instant instant;
};

int bed_open(struct bed *bed, const struct bed_settings *settings, struct error *error);
void bed_close(struct bed *bed); /* a zeroed one is fine */

/*
 * A run of so many messages by the processor's counter. Its samples are all 0: they take
 * the same way through the histogram each time, so that instructions can be counted. Who
 * measures time puts in a clock.
 */
struct loop_run bed_run(struct bed *bed, uint64_t messages);

/* Forgets the samples, but not what the lane and the provider have counted. */
void bed_clear(struct bed *bed);

#endif
