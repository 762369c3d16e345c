/* SPDX-License-Identifier: MIT */
/*
 * Many at once: each queue pair is kept full to its depth, one post in signal_every
 * is signalled, and each completion frees the room of all that it stands for. It
 * ends with all messages through, or by time, and then what is under way stays so.
 * Time begins before a post and ends with a completion, which is where the next loop
 * goes on: what a device does while it is posted to counts once for each message.
 * Queue pairs with room are due, and are filled in turn, from one loop to the next. Between two
 * of them, and so many bytes, completions are looked at: where a post is the whole operation, all
 * that were posted meanwhile are counted late. (Where each is signalled, a look takes 16 of them
 * all the same.)
 */
#ifndef BENCH_LOOP_STREAM_H
#define BENCH_LOOP_STREAM_H

#include <errno.h>

#include "bench/loop/loop.h"
#include "bench/loop/sink.h"
#include "bench/loop/verify_slots.h"

/* Completions taken at once. */
#define STREAM_BATCH 16

/* A wr_id is the number of the queue pair, and above it how many posts it stands for. */
static ALWAYS_INLINE uint64_t stream_id(struct flow *flow)
{
	uint64_t id = (uint64_t)flow->silent << LANE_FLOW_BITS | flow->number;

	flow->silent = 0;
	return id;
}

/* What makes another loop of it. Constants at the call. */
struct stream_kind {
	bool has_lists;     /* posts by lists */
	bool is_both;       /* messages come as well as go */
	bool has_latencies; /* each message is timed, and signalled */
	bool is_verified;   /* the payloads; those of both ways, where there are two */
	bool is_notified;   /* a notification follows each, and is what is signalled */
	bool rings;         /* writes, and what is signalled has immediate data */
	bool walks;         /* each has another place than the one before */
	enum post_operation operation;
	enum post_path path;
	bool is_counter;
};

static ALWAYS_INLINE int stream_post(struct flow *flow, const struct stream_kind kind,
				     unsigned int signalled, struct error *error)
{
	if (kind.rings)
		return loop_post_ringing(flow, kind.path, signalled, error);
	return loop_post_flow(flow, kind.operation, kind.path, kind.is_notified, signalled, error);
}

static ALWAYS_INLINE int stream_fill(struct lane *lane, struct flow *flow,
				     const struct stream_kind kind, struct error *error)
{
	uint32_t count = lane->turn < lane->look_every ? lane->turn : lane->look_every;
	uint32_t end = count == flow->left; /* where what is left ends; 0: not now */

	lane->turn -= count;
	flow->left -= count;
	flow->room -= count;
	lane->posted += count;
	for (; count; count--) {
		struct post_work *last = kind.is_notified ? &flow->notice : &flow->work;
		unsigned int signalled = 0;

		if (unlikely(++flow->silent == lane->signal_every || count == end)) {
			last->id = stream_id(flow);
			signalled = IBV_SEND_SIGNALED;
		}
		if (kind.is_verified)
			verify_slots_fill(lane, flow, &flow->work);
		if (kind.walks)
			lane_walk(flow, &flow->work);
		if (kind.has_latencies)
			lane_note_post(lane, flow, clock_ticks(kind.is_counter));
		if (unlikely(stream_post(flow, kind, signalled, error)))
			return error->code;
	}
	return 0;
}

/* The same by lists: one is signalled at its end once so many are silent. */
static ALWAYS_INLINE int stream_fill_lists(struct lane *lane, struct flow *flow,
					   const struct stream_kind kind, struct error *error)
{
	uint64_t enough = lane->posted + lane->look_every;

	while (lane->turn && lane->posted < enough) {
		uint32_t count = lane->turn < lane->batch ? lane->turn : lane->batch;
		unsigned int signalled = 0;
		int code;

		/* Of less than a list there is only what is left. */
		if (count < lane->batch && count != flow->left) {
			lane->turn = 0;
			break;
		}
		lane->turn -= count;
		flow->left -= count;
		flow->silent += count;
		if (flow->silent + lane->batch > lane->signal_every || !flow->left) {
			flow->list.works[lane->batch - 1].id = stream_id(flow);
			flow->list.sends[lane->batch - 1].wr_id =
				flow->list.works[lane->batch - 1].id;
			signalled = IBV_SEND_SIGNALED;
		}
		for (uint32_t i = lane->batch - count; kind.is_verified && i < lane->batch; i++)
			verify_slots_fill(lane, flow, &flow->list.works[i]);
		for (uint32_t i = lane->batch - count; kind.walks && i < lane->batch; i++) {
			lane_walk(flow, &flow->list.works[i]);
			post_list_aim(&flow->list, i, kind.operation);
		}
		code = post_send_list(&flow->queue, &flow->list, count, kind.operation, kind.path,
				      signalled);
		if (unlikely(code))
			return lane_post_failed(code, error);
		flow->room -= count;
		lane->posted += count;
	}
	return 0;
}

static ALWAYS_INLINE struct flow *stream_flow(const struct lane *lane, const struct ibv_wc *wc)
{
	return &lane->flows[lane_flow(wc)];
}

/* The last of those that are to be filled. */
static ALWAYS_INLINE void stream_make_due(struct lane *lane, struct flow *flow)
{
	if (flow->is_due)
		return;
	flow->is_due = true;
	flow->next_due = NULL;
	*lane->last_due = flow;
	lane->last_due = &flow->next_due;
}

/* The turn of the first of them is over. */
static ALWAYS_INLINE void stream_end_turn(struct lane *lane)
{
	struct flow *flow = lane->first_due;

	lane->first_due = flow->next_due;
	if (!lane->first_due)
		lane->last_due = &lane->first_due;
	flow->is_due = false;
}

/* Takes completions. Returns how many messages they stand for, or a negative errno. */
static ALWAYS_INLINE int64_t stream_take(struct lane *lane, const struct stream_kind kind,
					 const struct ibv_wc *wc, int n_wc, struct error *error)
{
	int64_t done = 0;

	if (kind.is_verified && kind.is_both && verify_slots_check(lane, wc, n_wc, error))
		return error->code;
	for (int i = 0; i < n_wc; i++) {
		uint32_t stands_for = (uint32_t)(wc[i].wr_id >> LANE_FLOW_BITS);
		struct flow *flow;

		if (kind.is_both && wc[i].wr_id & LANE_RECEIVE) {
			bool is_message;

			if (unlikely(lane_take_next(lane, &wc[i], &is_message,
						    kind.is_verified || kind.walks, error)))
				return sink_leave(lane, &wc[i], n_wc - i, error);
			continue;
		}
		if (unlikely(wc[i].status != IBV_WC_SUCCESS))
			return lane_completion_failed(&wc[i], error);
		flow = stream_flow(lane, &wc[i]);
		if (kind.is_verified && verify_slots_check_reads(lane, flow, stands_for, error))
			return error->code;
		flow->room += stands_for;
		stream_make_due(lane, flow);
		done += stands_for;
		lane->completions++;
	}
	return done;
}

/* Their samples: completions of a queue pair come in the order of its posts. */
static ALWAYS_INLINE void stream_time(struct lane *lane, const struct loop_run *run,
				      const struct stream_kind kind, const struct ibv_wc *wc,
				      int n_wc)
{
	for (int i = 0; i < n_wc; i++) {
		struct flow *flow = stream_flow(lane, &wc[i]);
		uint64_t now = lane->last_tick;

		if (kind.is_both && wc[i].wr_id & LANE_RECEIVE)
			continue;
		hist_add(run->hist, clock_to_ns(now - lane_posted_at(lane, flow), run->mult));
	}
}

static ALWAYS_INLINE int stream_fill_somehow(struct lane *lane, struct flow *flow,
					     const struct stream_kind kind, struct error *error)
{
	return kind.has_lists ? stream_fill_lists(lane, flow, kind, error)
			      : stream_fill(lane, flow, kind, error);
}

/* All of them have something to post, those first whose turn it was when the last loop ended. */
static inline void stream_begin(struct lane *lane, const struct loop_run *run,
				const struct stream_kind kind)
{
	lane_share_out(lane, run->messages);
	lane->turn = 0;
	for (unsigned int i = 0; i < lane->n_flows; i++) {
		if (kind.has_lists)
			post_list_link(&lane->flows[i].list, kind.operation);
		stream_make_due(lane, &lane->flows[i]);
	}
}

/*
 * One of them, or several where there is little room, and of large messages a part of one. Its
 * turn is the room that it had when it began, so that it is not left for what is in other caches,
 * nor kept for what is through meanwhile.
 */
static ALWAYS_INLINE int stream_fill_due(struct lane *lane, const struct stream_kind kind,
					 struct error *error)
{
	uint64_t enough =
		lane->posted + (lane->look_every < STREAM_BATCH ? lane->look_every : STREAM_BATCH);

	while (lane->first_due && lane->posted < enough) {
		struct flow *flow = lane->first_due;
		int code;

		if (!lane->turn)
			lane->turn = flow->left < flow->room ? (uint32_t)flow->left : flow->room;
		code = stream_fill_somehow(lane, flow, kind, error);
		if (unlikely(code))
			return code;
		if (unlikely(lane->turn))
			continue;
		stream_end_turn(lane);
		if (unlikely(flow->left && flow->room >= lane->batch))
			stream_make_due(lane, flow);
	}
	return 0;
}

/* What is there, if others are to be filled meanwhile, and else what comes. */
static ALWAYS_INLINE int stream_look(struct lane *lane, struct ibv_wc *wc, struct error *error)
{
	int got;

	if (lane->first_due) {
		got = completion_poll(&lane->endpoint.completion, STREAM_BATCH, wc);
		return unlikely(got < 0) ? completion_poll_failed(error) : got;
	}
	got = completion_wait(&lane->endpoint.completion, STREAM_BATCH, wc, lane->stalled_ns,
			      error);
	return unlikely(got == -ETIMEDOUT) ? lane_stalled(lane, error) : got;
}

/* Whether posts of any queue pair have not been told of yet. */
static inline bool stream_is_under_way(const struct lane *lane)
{
	for (unsigned int i = 0; i < lane->n_flows; i++)
		if (lane->flows[i].room != lane->depth)
			return true;
	return false;
}

/*
 * What was under way of the warm-up has come while this thread waited for the others, and took
 * none of the time that is measured. Whoever sends goes on, so that there is an end to it.
 */
static COLD int stream_forget(struct lane *lane, const struct stream_kind kind, struct error *error)
{
	uint64_t most = lane->n_flows * (lane->depth + lane->parameters->rx_depth);
	uint64_t received = lane->received;
	uint64_t completions = lane->completions;
	int got = STREAM_BATCH;

	for (uint64_t i = 0; i <= most && got == STREAM_BATCH; i += STREAM_BATCH) {
		struct ibv_wc wc[STREAM_BATCH];

		got = completion_poll(&lane->endpoint.completion, STREAM_BATCH, wc);
		if (got < 0)
			return completion_poll_failed(error);
		if (stream_take(lane, kind, wc, got, error) < 0)
			return error->code;
	}
	lane->received = received;
	lane->completions = completions;
	return 0;
}

/*
 * The time of a stream that goes on begins where one of its messages is through, as it ends: of
 * what is half way then, as much is counted as is not.
 */
static COLD int stream_enter(struct lane *lane, const struct stream_kind kind, struct error *error)
{
	uint64_t received = lane->received;
	uint64_t completions = lane->completions;
	int64_t done = 0;

	while (!done) {
		struct ibv_wc wc[STREAM_BATCH];
		int got;

		if (stream_fill_due(lane, kind, error))
			return error->code;
		got = stream_look(lane, wc, error);
		if (got < 0)
			return got;
		lane->first_tick = lane->last_tick = clock_ticks(kind.is_counter);
		done = stream_take(lane, kind, wc, got, error);
		if (done < 0)
			return (int)done;
		if (alarm_raised(&lane->endpoint.alarm))
			return alarm_reason(&lane->endpoint.alarm, error);
		if (done)
			lane_forget_done(lane);
	}
	lane->received = received;
	lane->completions = completions;
	return 0;
}

static ALWAYS_INLINE int stream(struct lane *lane, const struct loop_run *run,
				const struct stream_kind kind, struct error *error)
{
	uint64_t start = run->origin ? run->origin : clock_ticks(kind.is_counter);
	uint64_t end = lane->messages + run->messages;
	uint64_t until = run->until;
	bool goes_on = false;

	if (end < run->messages)
		end = UINT64_MAX;
	lane->first_tick = lane->last_tick = start;
	if (run->has_waited && stream_forget(lane, kind, error))
		return error->code;
	if (run->has_waited)
		goes_on = stream_is_under_way(lane);
	stream_begin(lane, run, kind);
	if (goes_on && stream_enter(lane, kind, error))
		return error->code;
	/* As long as was asked for, from then on, and so are windows. */
	if (goes_on && until != UINT64_MAX)
		until += lane->first_tick - start;
	start = lane->first_tick;
	for (;;) {
		struct ibv_wc wc[STREAM_BATCH];
		uint64_t received = lane->received;
		uint64_t counted;
		int64_t done;
		int got;

		if (unlikely(stream_fill_due(lane, kind, error)))
			return error->code;
		got = stream_look(lane, wc, error);
		if (unlikely(got < 0))
			return got;
		if (unlikely(!got))
			continue;
		lane->last_tick = clock_ticks(kind.is_counter);
		done = stream_take(lane, kind, wc, got, error);
		if (unlikely(done < 0))
			return (int)done;
		/* Where the device is fast no poll is ever empty, and nobody else would look. */
		if (unlikely(alarm_raised(&lane->endpoint.alarm)))
			return alarm_reason(&lane->endpoint.alarm, error);
		if (kind.has_latencies)
			stream_time(lane, run, kind, wc, got);
		counted = (uint64_t)done;
		if (kind.is_both && run->counts_received)
			counted = lane->received - received;
		rate_windows_add(run->windows, clock_to_ns(lane->last_tick - start, run->mult),
				 counted);
		lane->messages += (uint64_t)done;
		if (lane->messages >= end || lane->last_tick >= until)
			return 0;
	}
}

/* Writes go to one place: nobody can look at one before the next is there. */
static ALWAYS_INLINE bool stream_has_slots(enum post_operation operation)
{
	return operation == POST_SEND || operation == POST_UD_SEND || operation == POST_READ;
}

/* With whatever the case asks for: to test for it costs little beside the looking. */
static COLD int stream_verified(struct lane *lane, const struct loop_run *run,
				struct stream_kind kind, struct error *error)
{
	kind.is_verified = true;
	kind.has_lists = lane->batch > 1;
	kind.is_both = lane->parameters->bidirectional;
	kind.has_latencies = lane->parameters->latencies && run->hist;
	return stream(lane, run, kind, error);
}

/* Picks the loop for what the lane is to do; kind says what is the same for all. */
static ALWAYS_INLINE int stream_singly(struct lane *lane, const struct loop_run *run,
				       struct stream_kind kind, struct error *error)
{
	if (lane->parameters->bidirectional) {
		kind.is_both = true;
		/* The server's are not asked for. */
		if (!lane->parameters->latencies || !run->hist)
			return stream(lane, run, kind, error);
		kind.has_latencies = true;
		return stream(lane, run, kind, error);
	}
	if (lane->parameters->latencies) {
		kind.has_latencies = true;
		return stream(lane, run, kind, error);
	}
	return stream(lane, run, kind, error);
}

static ALWAYS_INLINE int stream_lists(struct lane *lane, const struct loop_run *run,
				      struct stream_kind kind, struct error *error)
{
	kind.has_lists = true;
	if (lane->parameters->bidirectional) {
		kind.is_both = true;
		return stream(lane, run, kind, error);
	}
	return stream(lane, run, kind, error);
}

static ALWAYS_INLINE int loop_stream(struct lane *lane, const struct loop_run *run,
				     enum post_operation operation, enum post_path path,
				     bool is_counter, struct error *error)
{
	const struct stream_kind kind = {
		.operation = operation, .path = path, .is_counter = is_counter};

	if (stream_has_slots(operation) && lane->parameters->verify)
		return stream_verified(lane, run, kind, error);
	return lane->batch > 1 ? stream_lists(lane, run, kind, error)
			       : stream_singly(lane, run, kind, error);
}

/* The common one, which is compared with that of one place, has no more tests than that. */
static ALWAYS_INLINE int loop_stream_walking(struct lane *lane, const struct loop_run *run,
					     enum post_operation operation, enum post_path path,
					     bool is_counter, struct error *error)
{
	struct stream_kind kind = {
		.walks = true, .operation = operation, .path = path, .is_counter = is_counter};

	if (lane->batch == 1 && !lane->parameters->bidirectional && !lane->parameters->latencies)
		return stream(lane, run, kind, error);
	kind.has_lists = lane->batch > 1;
	kind.is_both = lane->parameters->bidirectional;
	kind.has_latencies = lane->parameters->latencies && run->hist;
	return stream(lane, run, kind, error);
}

/* With the notification of the specification behind each message; no lists. */
static ALWAYS_INLINE int loop_stream_notified(struct lane *lane, const struct loop_run *run,
					      enum post_operation operation, enum post_path path,
					      bool is_counter, struct error *error)
{
	const struct stream_kind kind = {.is_notified = true,
					 .operation = operation,
					 .path = path,
					 .is_counter = is_counter};

	if (stream_has_slots(operation) && lane->parameters->verify)
		return stream_verified(lane, run, kind, error);
	return stream_singly(lane, run, kind, error);
}

/* Writes, of which each signalled one rings; no lists. */
static ALWAYS_INLINE int loop_stream_ringing(struct lane *lane, const struct loop_run *run,
					     enum post_operation operation, enum post_path path,
					     bool is_counter, struct error *error)
{
	const struct stream_kind kind = {
		.rings = true, .operation = operation, .path = path, .is_counter = is_counter};

	return stream_singly(lane, run, kind, error);
}

static ALWAYS_INLINE int loop_stream_ringing_walking(struct lane *lane, const struct loop_run *run,
						     enum post_operation operation,
						     enum post_path path, bool is_counter,
						     struct error *error)
{
	const struct stream_kind kind = {.rings = true,
					 .walks = true,
					 .operation = operation,
					 .path = path,
					 .is_counter = is_counter};

	return stream_singly(lane, run, kind, error);
}

#endif
