/* SPDX-License-Identifier: MIT */
/*
 * One queue pair at work: a connected context, its buffer split into an area that
 * is sent from and one that is received into, and the work requests made ready. A
 * lane belongs to the thread that runs it.
 */
#ifndef BENCH_LANE_H
#define BENCH_LANE_H

#include "core/context.h"

#define LANE_DEPTH   64
#define LANE_RECEIVE 1 /* the wr_id */

struct lane {
	struct rdma_context context;
	struct completion *completion; /* the context's */
	struct post_queue queue;
	enum post_path path;
	struct post_work work;    /* the operation of this case */
	struct post_work receive; /* into the receiving area */
	uint8_t *last_sent;       /* the last byte of each area */
	const uint8_t *last_received;
	unsigned int signal_every;
	unsigned int until_signal; /* posts until one is signalled */
	bool is_signal_out;        /* its completion has not come yet */
	uint64_t stalled_ns;
	uint64_t messages; /* operations done, of all loops */
	uint64_t completions;
};

/* Sets what the context needs before it is set up, for messages of that size. */
void lane_init(struct lane *lane, size_t size, enum rdma_wait_mode cq);

/* The device that it runs on, once it is set up. */
const char *lane_device(const struct lane *lane);

/* Once connected: makes the work requests ready and posts all receives. */
int lane_start(struct lane *lane, size_t size, bool is_read, struct error *error);

/* The lane's own context refused: its reason becomes the error. */
int lane_failed(const struct lane *lane, struct error *error);

/* Takes one completion that was waited for. Sets *is_message for a receive. */
int lane_take(struct lane *lane, const struct ibv_wc *wc, bool *is_message, struct error *error);

/* Nothing for lane.stalled_ns, at an end that drives, is a failure. */
COLD int lane_stalled(struct error *error);

/* Waits until the signalled operation is complete. */
COLD int lane_settle(struct lane *lane, struct error *error);

/* What a failed post means. */
COLD int lane_post_failed(int code, struct error *error);

#endif
