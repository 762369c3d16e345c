/* SPDX-License-Identifier: MIT */
/*
 * Bandwidth: each queue pair is kept full to its depth, one post in signal_every is signaled, and
 * each completion frees the room of all posts that it stands for. The loop ends when all messages
 * are done, or by time with messages still in flight. Time starts before a post and ends with a
 * completion, where the next loop continues, so that work of a device during posts counts once per
 * message. Queue pairs with room are due and are filled in turn, across loops. Completions are
 * polled between two queue pairs and after a limited number of bytes: where a post is the whole
 * operation, everything posted meanwhile would be counted late. (If every post is signaled, a poll
 * still takes up to 16.)
 */
#ifndef BENCH_LOOP_STREAM_H
#define BENCH_LOOP_STREAM_H

#include <errno.h>

#include "bench/loop/loop.h"
#include "bench/loop/sink.h"
#include "bench/loop/verify_slots.h"

/* Completions taken at once. */
#define STREAM_BATCH 16

/*
 * Returns the wr_id of a signaled post: the queue pair's number, and above it the number of posts
 * that it stands for.
 */
static ALWAYS_INLINE uint64_t stream_id(struct flow *flow)
{
	uint64_t id = (uint64_t)flow->unsignaled << LANE_FLOW_BITS | flow->number;

	flow->unsignaled = 0;
	return id;
}

/*
 * Properties of a stream. The first five members are constants (except has_latencies of
 * bidirectional streams); the others are run-time values.
 */
struct stream_kind {
	enum post_operation operation;
	enum loop_notice notice;
	bool rings;         /* writes; signaled ones carry immediate data */
	bool is_both;       /* bidirectional */
	bool has_latencies; /* each message is timed and signaled */
	bool has_lists;     /* posts lists */
	bool is_verified;   /* payloads, in both directions if bidirectional */
	bool walks;         /* each message uses another address */
	bool is_counter;    /* as in loop_run */
	enum post_path path;
};

static ALWAYS_INLINE int stream_post(struct flow *flow, const struct stream_kind kind,
				     unsigned int signaled, struct error *error)
{
	if (kind.rings)
		return loop_post_ringing(flow, kind.path, signaled, error);
	return loop_post_flow(flow, kind.operation, kind.path, kind.notice, signaled, error);
}

static ALWAYS_INLINE int stream_fill(struct lane *lane, struct flow *flow,
				     const struct stream_kind kind, struct error *error)
{
	uint32_t count =
		lane->turn < lane->settings.look_every ? lane->turn : lane->settings.look_every;
	uint32_t end = count == flow->left; /* `count` at the last message; 0: not in this call */

	lane->turn -= count;
	flow->left -= count;
	flow->room -= count;
	lane->result.posted += count;
	for (; count; count--) {
		struct post_work *last = kind.notice ? &flow->notice : &flow->work;
		unsigned int signaled = 0;

		if (unlikely(++flow->unsignaled == lane->settings.signal_every || count == end)) {
			last->id = stream_id(flow);
			signaled = IBV_SEND_SIGNALED;
		}
		if (kind.is_verified)
			verify_slots_fill(lane, flow, &flow->work);
		if (kind.walks)
			lane_walk(flow, &flow->work);
		if (kind.has_latencies)
			lane_note_post(lane, flow, clock_ticks(kind.is_counter));
		if (unlikely(stream_post(flow, kind, signaled, error)))
			return error->code;
	}
	return 0;
}

/* The same with post lists: the last post of a list is signaled once enough are unsignaled. */
static ALWAYS_INLINE int stream_fill_lists(struct lane *lane, struct flow *flow,
					   const struct stream_kind kind, struct error *error)
{
	uint64_t enough = lane->result.posted + lane->settings.look_every;

	while (lane->turn && lane->result.posted < enough) {
		uint32_t count = lane->turn < lane->settings.post_list ? lane->turn
								       : lane->settings.post_list;
		unsigned int signaled = 0;
		int code;

		/* Only the last list may be shorter. */
		if (count < lane->settings.post_list && count != flow->left) {
			lane->turn = 0;
			break;
		}
		lane->turn -= count;
		flow->left -= count;
		flow->unsignaled += count;
		if (flow->unsignaled + lane->settings.post_list > lane->settings.signal_every ||
		    !flow->left) {
			flow->list.works[lane->settings.post_list - 1].id = stream_id(flow);
			flow->list.sends[lane->settings.post_list - 1].wr_id =
				flow->list.works[lane->settings.post_list - 1].id;
			signaled = IBV_SEND_SIGNALED;
		}
		for (uint32_t i = lane->settings.post_list - count;
		     kind.is_verified && i < lane->settings.post_list; i++)
			verify_slots_fill(lane, flow, &flow->list.works[i]);
		for (uint32_t i = lane->settings.post_list - count;
		     kind.walks && i < lane->settings.post_list; i++) {
			lane_walk(flow, &flow->list.works[i]);
			post_list_aim(&flow->list, i, kind.operation);
		}
		code = post_send_list(&flow->queue, &flow->list, count, kind.operation, kind.path,
				      signaled);
		if (unlikely(code))
			return lane_post_failed(code, error);
		flow->room -= count;
		lane->result.posted += count;
	}
	return 0;
}

static ALWAYS_INLINE struct flow *stream_flow(const struct lane *lane, const struct ibv_wc *wc)
{
	return &lane->flows[lane_flow(wc)];
}

/* Appends a queue pair to those to be filled. */
static ALWAYS_INLINE void stream_make_due(struct lane *lane, struct flow *flow)
{
	if (flow->is_due)
		return;
	flow->is_due = true;
	flow->next_due = NULL;
	*lane->last_due = flow;
	lane->last_due = &flow->next_due;
}

/* Ends the turn of the first one. */
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
		lane->result.completions++;
	}
	return done;
}

/* Records samples. Completions of a queue pair arrive in the order of its posts. */
static ALWAYS_INLINE void stream_time(struct lane *lane, const struct loop_run *run,
				      const struct stream_kind kind, const struct ibv_wc *wc,
				      int n_wc)
{
	for (int i = 0; i < n_wc; i++) {
		struct flow *flow = stream_flow(lane, &wc[i]);
		uint64_t now = lane->result.last_tick;

		if (kind.is_both && wc[i].wr_id & LANE_RECEIVE)
			continue;
		loop_record(run, now - lane_posted_at(lane, flow));
	}
}

/*
 * Fills without lists. The common cases, fixed address and walking, have their own instances
 * without tests per message, because they are compared with each other.
 */
static ALWAYS_INLINE int stream_fill_singly(struct lane *lane, struct flow *flow,
					    const struct stream_kind kind, struct error *error)
{
	struct stream_kind common = kind;

	if (kind.is_verified)
		return stream_fill(lane, flow, kind, error);
	common.is_verified = false;
	common.walks = true;
	if (kind.walks)
		return LOOP_ON_PATH(lane, common, stream_fill(lane, flow, common, error));
	common.walks = false;
	return LOOP_ON_PATH(lane, common, stream_fill(lane, flow, common, error));
}

/*
 * Fills one queue pair, several if they have little room, or part of one if messages are large.
 * A turn posts as many operations as there is room for when it begins: it is not cut short, because
 * the state of other queue pairs is not cached, nor extended when posts complete meanwhile.
 */
static ALWAYS_INLINE int stream_fill_due(struct lane *lane, const struct stream_kind kind,
					 struct error *error)
{
	uint64_t enough = lane->result.posted + (lane->settings.look_every < STREAM_BATCH
							 ? lane->settings.look_every
							 : STREAM_BATCH);

	while (lane->first_due && lane->result.posted < enough) {
		struct flow *flow = lane->first_due;
		int code;

		if (!lane->turn)
			lane->turn = flow->left < flow->room ? (uint32_t)flow->left : flow->room;
		code = kind.has_lists ? stream_fill_lists(lane, flow, kind, error)
				      : stream_fill_singly(lane, flow, kind, error);
		if (unlikely(code))
			return code;
		if (unlikely(lane->turn))
			continue;
		stream_end_turn(lane);
		if (unlikely(flow->left && flow->room >= lane->settings.post_list))
			stream_make_due(lane, flow);
	}
	return 0;
}

/* Polls if other queue pairs are to be filled, otherwise waits. */
static ALWAYS_INLINE int stream_look(struct lane *lane, struct ibv_wc *wc, struct error *error)
{
	int got;

	if (lane->first_due) {
		got = completion_poll(&lane->endpoint.completion, STREAM_BATCH, wc);
		return unlikely(got < 0) ? completion_poll_failed(error) : got;
	}
	got = completion_wait(&lane->endpoint.completion, STREAM_BATCH, wc,
			      lane->settings.stalled_ns, error);
	return unlikely(got == -ETIMEDOUT) ? lane_stalled(lane, error) : got;
}

/*
 * Distributes the messages. All queue pairs start with something to post, beginning with those
 * whose turn it was when the last loop ended.
 */
void stream_begin(struct lane *lane, const struct loop_run *run, const struct stream_kind kind);

/* Returns whether any queue pair has posts in flight. */
bool stream_is_in_flight(const struct lane *lane);

/*
 * Takes the messages of the warm-up that completed while this thread waited for the others; they
 * used none of the measured time. The peer keeps sending, so the number of polls is bounded.
 */
COLD int stream_forget(struct lane *lane, const struct stream_kind kind, struct error *error);

/*
 * Restarts the time of a continuing stream at one of its completions. Messages in flight at that
 * point are counted and those in flight at the end are not, so the two balance. The counters
 * return to their earlier values.
 */
COLD void stream_restart(struct lane *lane, uint64_t received, uint64_t completions);

static ALWAYS_INLINE int stream(struct lane *lane, const struct loop_run *run,
				const struct stream_kind kind, struct error *error)
{
	uint64_t start = run->origin ? run->origin : clock_ticks(run->is_counter);
	uint64_t end = lane->result.messages + run->messages;
	uint64_t until = run->until;
	uint64_t first_received = lane->result.received;
	uint64_t first_completions = lane->result.completions;
	bool goes_on = false;

	if (end < run->messages)
		end = UINT64_MAX;
	lane->result.first_tick = lane->result.last_tick = start;
	if (run->has_waited && stream_forget(lane, kind, error))
		return error->code;
	if (run->has_waited)
		goes_on = stream_is_in_flight(lane);
	stream_begin(lane, run, kind);
	for (;;) {
		struct ibv_wc wc[STREAM_BATCH];
		uint64_t received = lane->result.received;
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
		lane->result.last_tick = clock_ticks(run->is_counter);
		done = stream_take(lane, kind, wc, got, error);
		if (unlikely(done < 0))
			return (int)done;
		/* On a fast device no poll is ever empty, so check the alarm here. */
		if (unlikely(alarm_raised(&lane->endpoint.alarm)))
			return alarm_reason(&lane->endpoint.alarm, error);
		if (unlikely(goes_on)) {
			goes_on = !done;
			if (goes_on)
				continue;
			stream_restart(lane, first_received, first_completions);
			/* The measured interval starts here; throughput windows start with it. */
			if (until != UINT64_MAX)
				until += lane->result.first_tick - start;
			start = lane->result.first_tick;
			continue;
		}
		if (kind.has_latencies)
			stream_time(lane, run, kind, wc, got);
		counted = (uint64_t)done;
		if (kind.is_both && run->counts_received)
			counted = lane->result.received - received;
		rate_windows_add(run->windows,
				 clock_to_ns(lane->result.last_tick - start, run->mult), counted);
		lane->result.messages += (uint64_t)done;
		if (lane->result.messages >= end || lane->result.last_tick >= until)
			return 0;
	}
}

static ALWAYS_INLINE int stream_run(struct lane *lane, const struct loop_run *run,
				    struct stream_kind kind, struct error *error)
{
	/* The server has no histogram. */
	bool has_latencies = lane->settings.parameters->latencies && run->hist;

	kind.has_lists = !kind.notice && !kind.rings && lane->settings.post_list > 1;
	kind.is_verified = lane->settings.parameters->verify;
	kind.walks = lane->settings.walks;
	kind.is_counter = run->is_counter;
	kind.path = lane->path;
	if (lane->settings.parameters->bidirectional) {
		kind.is_both = true;
		kind.has_latencies = has_latencies;
		return stream(lane, run, kind, error);
	}
	if (has_latencies) {
		kind.has_latencies = true;
		return stream(lane, run, kind, error);
	}
	return stream(lane, run, kind, error);
}

static ALWAYS_INLINE int loop_stream(struct lane *lane, const struct loop_run *run,
				     enum post_operation operation, struct error *error)
{
	return stream_run(lane, run, (struct stream_kind){.operation = operation}, error);
}

/* Like loop_stream, but each message is followed by the specification's notification. No lists. */
static ALWAYS_INLINE int loop_stream_notified(struct lane *lane, const struct loop_run *run,
					      enum post_operation operation, struct error *error)
{
	const struct stream_kind kind = {.operation = operation, .notice = LOOP_NOTIFIED};

	return stream_run(lane, run, kind, error);
}

/* Binds memory windows of type 2 and invalidates them. No lists. */
static ALWAYS_INLINE int loop_stream_bound(struct lane *lane, const struct loop_run *run,
					   enum post_operation operation, struct error *error)
{
	const struct stream_kind kind = {.operation = operation, .notice = LOOP_REVOKED};

	return stream_run(lane, run, kind, error);
}

/* Streams writes; each signaled one rings. No lists. */
static ALWAYS_INLINE int loop_stream_ringing(struct lane *lane, const struct loop_run *run,
					     enum post_operation operation, struct error *error)
{
	const struct stream_kind kind = {.operation = operation, .rings = true};

	return stream_run(lane, run, kind, error);
}

#endif
