/* SPDX-License-Identifier: MIT */
/*
 * An open loop: messages are posted according to a schedule, whether or not earlier ones have
 * completed, and each latency starts when the message was due. A message without room in the queue
 * waits, and its wait counts, so a stall does not hide the messages that it delays. The loop ends
 * with nothing in flight, once all due messages have completed or been given up.
 */
#ifndef BENCH_LOOP_LOAD_H
#define BENCH_LOOP_LOAD_H

#include <errno.h>

#include "bench/loop/arrival.h"
#include "bench/loop/loop.h"
#include "reports/result/pace.h"

/* Completions taken at once, and most posts between two polls of the CQ. */
#define LOAD_BATCH 16

/*
 * The schedule is divided into this many consecutive parts, to see whether lags grow. The last
 * part includes the remainder.
 */
#define LOAD_PARTS 4

/* Input and output of the loop in addition to loop_run, and its state. */
struct load {
	struct arrival arrival;
	struct pace *seen; /* lags, and latencies counted from posts */
	uint64_t from;     /* the tick at which the schedule begins */
	uint64_t give_up;  /* the tick at which messages still due are given up */
	uint64_t stalled;  /* ticks without a completion after which the loop fails */
	uint64_t unsent;
	/* Smallest lag in ticks: in the last part, and in the one before. */
	uint64_t least;
	uint64_t least_before;
	/* State while it runs. */
	unsigned int part;  /* the current part, from 1 */
	uint64_t part_size; /* messages of each part but the last */
	uint64_t part_left;
	uint64_t due;  /* tick of the next message; UINT64_MAX: none */
	uint64_t left; /* messages left, including that one */
	uint64_t room; /* of all queue pairs */
	uint64_t out;  /* messages in flight */
	uint64_t last; /* tick of the last completion, or of the post after an idle time */
	struct flow *flow;
};

/* All members are constants at the call. */
struct load_kind {
	enum loop_notice notice;
	enum post_operation operation;
};

void load_begin(struct load *load, struct lane *lane, const struct loop_run *run);

/* Counts the messages that are due but will not be sent, and ends the schedule. */
COLD void load_give_up(struct load *load, const struct loop_run *run);

/* Starts the next part. */
COLD void load_turn(struct load *load);

/*
 * Call when nothing has completed and nothing is due. Sleeps until either happens, unless the lane
 * polls.
 */
COLD int load_idle(struct load *load, struct lane *lane, const struct loop_run *run,
		   struct ibv_wc *wc, struct error *error);

/* Returns the next queue pair with room. There must be one. */
static ALWAYS_INLINE struct flow *load_flow(struct load *load, const struct lane *lane)
{
	do
		load->flow = load->flow + 1 == lane->flows + lane->settings.n_flows
				     ? lane->flows
				     : load->flow + 1;
	while (!load->flow->room);
	return load->flow;
}

/* Returns when a message was due ([0]) and posted ([1]). */
static ALWAYS_INLINE uint64_t *load_ticks(const struct flow *flow, uint32_t number)
{
	return flow->ticks + 2 * (size_t)number;
}

/* Records a post. Completions arrive in the order of posts. */
static ALWAYS_INLINE void load_note(const struct lane *lane, struct flow *flow, uint64_t due,
				    uint64_t posted)
{
	uint64_t *ticks = load_ticks(flow, flow->next_tick);

	ticks[0] = due;
	ticks[1] = posted;
	flow->next_tick = flow->next_tick + 1 == lane->settings.tx_depth ? 0 : flow->next_tick + 1;
}

/* Advances to the next message, if there is one. */
static ALWAYS_INLINE void load_advance(struct load *load, const struct loop_run *run)
{
	uint64_t next;

	arrival_advance(&load->arrival);
	next = arrival_next(&load->arrival);
	load->left--;
	load->due = load->left && next <= run->until ? next : UINT64_MAX;
}

static ALWAYS_INLINE void load_slip(struct load *load, const struct loop_run *run, uint64_t late)
{
	if (unlikely(!load->part_left))
		load_turn(load);
	load->part_left--;
	load->least = late < load->least ? late : load->least;
	hist_add(&load->seen->lag, clock_to_ns(late, run->mult));
}

/* Posts the messages that are due now while there is room. */
static ALWAYS_INLINE int load_post(struct load *load, struct lane *lane, const struct loop_run *run,
				   const struct load_kind kind, struct error *error)
{
	for (int i = 0; i < LOAD_BATCH && load->room; i++) {
		uint64_t now = clock_ticks(run->is_counter);
		struct flow *flow;

		if (now < load->due)
			return 0;
		flow = load_flow(load, lane);
		load_note(lane, flow, load->due, now);
		if (lane->settings.walks)
			lane_walk(flow, &flow->work);
		if (unlikely(loop_post_flow(flow, kind.operation, lane->path, kind.notice,
					    IBV_SEND_SIGNALED, error)))
			return error->code;
		load_slip(load, run, now - load->due);
		load->last = load->out++ ? load->last : now;
		flow->room--;
		load->room--;
		lane->result.posted++;
		load_advance(load, run);
	}
	return 0;
}

static ALWAYS_INLINE int load_take(struct load *load, struct lane *lane, const struct loop_run *run,
				   const struct ibv_wc *wc, int n_wc, struct error *error)
{
	for (int i = 0; i < n_wc; i++) {
		struct flow *flow = &lane->flows[lane_flow(&wc[i])];
		const uint64_t *ticks = load_ticks(flow, flow->first_tick);

		if (unlikely(wc[i].status != IBV_WC_SUCCESS))
			return lane_completion_failed(&wc[i], error);
		loop_record(run, lane->result.last_tick - ticks[0]);
		hist_add(&load->seen->uncorrected,
			 clock_to_ns(lane->result.last_tick - ticks[1], run->mult));
		flow->first_tick =
			flow->first_tick + 1 == lane->settings.tx_depth ? 0 : flow->first_tick + 1;
		flow->room++;
	}
	load->room += (uint64_t)n_wc;
	load->out -= (uint64_t)n_wc;
	lane->result.completions += (uint64_t)n_wc;
	lane->result.messages += (uint64_t)n_wc;
	return 0;
}

/* Takes completions, or waits for them if nothing is due. */
static ALWAYS_INLINE int load_look(struct load *load, struct lane *lane, const struct loop_run *run,
				   struct ibv_wc *wc, struct error *error)
{
	int got = completion_poll(&lane->endpoint.completion, LOAD_BATCH, wc);

	if (!got && (!load->room || clock_ticks(run->is_counter) < load->due))
		got = load_idle(load, lane, run, wc, error);
	else if (unlikely(got < 0))
		got = completion_poll_failed(error);
	return got;
}

static ALWAYS_INLINE int load_run(struct load *load, struct lane *lane, const struct loop_run *run,
				  const struct load_kind kind, struct error *error)
{
	load_begin(load, lane, run);
	while (load->out || load->due != UINT64_MAX) {
		struct ibv_wc wc[LOAD_BATCH];
		int got;

		if (unlikely(load_post(load, lane, run, kind, error)))
			return error->code;
		got = load_look(load, lane, run, wc, error);
		if (unlikely(got < 0))
			return got;
		if (!got)
			continue;
		load->last = lane->result.last_tick = clock_ticks(run->is_counter);
		if (unlikely(load_take(load, lane, run, wc, got, error)))
			return error->code;
		/* On a fast device no poll is ever empty, so check the alarm here. */
		if (unlikely(alarm_raised(&lane->endpoint.alarm)))
			return alarm_reason(&lane->endpoint.alarm, error);
		if (unlikely(lane->result.last_tick >= load->give_up))
			load_give_up(load, run);
	}
	return 0;
}

static ALWAYS_INLINE int loop_load(struct lane *lane, const struct loop_run *run,
				   enum post_operation operation, struct error *error)
{
	return load_run(run->load, lane, run, (struct load_kind){.operation = operation}, error);
}

/*
 * Like loop_load, but each message is followed by the specification's notification, to one
 * address.
 */
static ALWAYS_INLINE int loop_load_notified(struct lane *lane, const struct loop_run *run,
					    enum post_operation operation, struct error *error)
{
	const struct load_kind kind = {.notice = LOOP_NOTIFIED, .operation = operation};

	return load_run(run->load, lane, run, kind, error);
}

#endif
