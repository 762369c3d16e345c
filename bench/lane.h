/* SPDX-License-Identifier: MIT */
/*
 * What one thread drives: queue pairs on one ground, a buffer with an area that is sent
 * from and one that is received into for each of them, and the work requests made
 * ready. Buffer and completion queue live as long as the lane, the queue pairs for one
 * trial: connect.h makes them. A lane belongs to the thread that runs it.
 */
#ifndef BENCH_LANE_H
#define BENCH_LANE_H

#include "bench/parameters.h"
#include "bench/placement.h"
#include "bench/verify.h"
#include "core/context.h"
#include "core/device.h"

/* In the wr_id of receives; both have their queue pair's number, and more above it. */
#define LANE_RECEIVE   (1ULL << 63)
#define LANE_FLOW_BITS 16

/*
 * Of a stream whose messages are looked at: each one under way has a slot of its own.
 * What goes out takes them in turn, and so does what is read.
 */
struct slots {
	struct verify sent;
	struct verify received;
	uint8_t *first_sent;
	uint8_t *first_received;
	uint32_t next_sent;
	uint32_t next_received;
};

/* What an operation asks of the work requests. */
struct lane_shape {
	bool is_read;     /* data come from the other end */
	bool is_atomic;   /* eight bytes, and only eight */
	bool is_notified; /* a notification follows */
};

/* One queue pair. */
struct flow {
	struct post_queue queue;
	struct post_work work; /* the operation of this case */
	struct post_list list; /* so many at once; n is 0 for one */
	uint64_t left;         /* operations that are still to be posted */
	uint32_t number;
	uint32_t room;   /* operations that may be posted now */
	uint32_t silent; /* posts since the last one that was signalled */
	uint64_t *ticks; /* of the posts under way, in a ring; where they are timed */
	uint32_t first_tick;
	uint32_t next_tick;
	struct post_work notice;
	struct post_work receive; /* into the receiving area */
	uint64_t first_receive;   /* the address of its first slot */
	struct slots slots;
	struct rdma_context context;
};

struct lane {
	struct device_handle device;
	struct placement placement; /* of the thread */
	struct ground ground;
	struct completion *completion; /* the ground's */
	struct flow *flows;
	unsigned int n_flows;
	enum transport transport;
	enum post_path path;
	uint32_t depth;     /* operations under way of each queue pair */
	unsigned int batch; /* operations posted by one call */
	uint8_t *last_sent; /* the last byte of the first one's areas */
	const uint8_t *last_received;
	unsigned int signal_every;
	unsigned int until_signal; /* posts until one is signalled: of latency loops */
	bool is_signal_out;        /* its completion has not come yet */
	uint64_t stalled_ns;
	uint64_t posted;   /* messages, of all loops since the queue pairs were made */
	uint64_t messages; /* operations done */
	uint64_t received; /* messages that have come */
	uint64_t left;     /* messages that a sink took, and its end kept it from counting */
	uint64_t lost;     /* of those that were waited for, on UC and UD */
	uint64_t lost_at;  /* the number of the message that the last one of them was */
	unsigned int lost_in_a_row;
	uint64_t completions;
	uint64_t last_tick; /* when the last of a stream were seen to be through */
	const struct parameters *parameters;
	const struct lane_shape *shape;
	bool is_server;
	struct verify verify; /* of the first flow's messages, one at a time */
	/* Of a slot, and how many each flow has to send from, and to receive into. */
	size_t stride;
	uint32_t sent_slots;
	uint32_t received_slots;
};

/*
 * Makes ground and flows, for one end of a case: is_server tells which. parameters and
 * shape stay the caller's, and as they are. Until lane_close, which the same thread
 * calls, that runs where the case wants it.
 */
int lane_open(struct lane *lane, const char *device, const struct parameters *parameters,
	      const struct lane_shape *shape, bool is_server, struct error *error);
void lane_close(struct lane *lane);

/* All that a lane will ask of its device, at either end. */
struct limits lane_limits(const struct parameters *parameters, const struct lane_shape *shape);

/* Settings for the context of each flow. */
struct rdma_settings lane_settings(const struct lane *lane);

/* Once a flow has its queue pair: posts its receives. */
int lane_receive(struct lane *lane, struct flow *flow, struct error *error);

/* Once all are connected: makes the work requests ready. */
int lane_start(struct lane *lane, struct error *error);

/* Releases the queue pairs and makes the ground ready for others. */
int lane_stop(struct lane *lane, struct error *error);

/* Shares so many operations out to the queue pairs; UINT64_MAX: without end. */
void lane_share_out(struct lane *lane, uint64_t messages);

/* A context refused: its reason becomes the error. */
int lane_failed(const struct flow *flow, struct error *error);

/* Nothing for lane.stalled_ns, at an end that drives, is a failure. */
COLD int lane_stalled(const struct lane *lane, struct error *error);

/*
 * What the end of a wait for the answer to message number means. Where messages may be
 * lost, an answer that is missing is counted, and no failure before it is the tenth to
 * the same message.
 */
COLD int lane_missed(struct lane *lane, uint64_t number, int code, struct error *error);

/* Waits until the signalled operation is complete. */
COLD int lane_settle(struct lane *lane, struct error *error);

/* What a failed post, or a failed completion, means. */
COLD int lane_post_failed(int code, struct error *error);
COLD int lane_completion_failed(const struct ibv_wc *wc, struct error *error);

/* The number of the queue pair whose post, or receive, it was. */
static ALWAYS_INLINE uint32_t lane_flow(const struct ibv_wc *wc)
{
	return wc->wr_id & ((1U << LANE_FLOW_BITS) - 1);
}

/* Where the receive of that id has put its message. */
static ALWAYS_INLINE uint64_t lane_receive_slot(uint64_t id)
{
	return (id & ~LANE_RECEIVE) >> LANE_FLOW_BITS;
}

/* Again, where it was: id is that of the receive. */
static ALWAYS_INLINE int lane_post_receive(const struct lane *lane, struct flow *flow, uint64_t id)
{
	flow->receive.id = id;
	flow->receive.sges[0].addr = flow->first_receive + lane_receive_slot(id) * lane->stride;
	return flow->queue.srq ? post_receive_shared(&flow->queue, &flow->receive)
			       : post_receive(&flow->queue, &flow->receive);
}

/* Takes one completion that was waited for. Sets *is_message for a receive. */
static ALWAYS_INLINE int lane_take(struct lane *lane, const struct ibv_wc *wc, bool *is_message,
				   struct error *error)
{
	int code;

	if (unlikely(wc->status != IBV_WC_SUCCESS))
		return lane_completion_failed(wc, error);
	/* Where the device is fast no poll is ever empty, and nobody else would look. */
	if (unlikely(alarm_raised(lane->completion->alarm)))
		return alarm_reason(lane->completion->alarm, error);
	lane->completions++;
	*is_message = wc->wr_id & LANE_RECEIVE;
	if (!*is_message) {
		lane->is_signal_out = false;
		return 0;
	}
	lane->received++;
	code = lane_post_receive(lane, &lane->flows[lane_flow(wc)], wc->wr_id);
	return unlikely(code) ? lane_post_failed(code, error) : 0;
}

/* Computes for that long, as a program does that has other work than messages. */
COLD void lane_compute(uint64_t ns);

static ALWAYS_INLINE void lane_think(const struct lane *lane)
{
	if (unlikely(lane->parameters->think_ns))
		lane_compute(lane->parameters->think_ns);
}

/* The times of posts: as many as there is room for, and in order. */
static ALWAYS_INLINE void lane_note_post(const struct lane *lane, struct flow *flow, uint64_t tick)
{
	flow->ticks[flow->next_tick] = tick;
	flow->next_tick = flow->next_tick + 1 == lane->depth ? 0 : flow->next_tick + 1;
}

static ALWAYS_INLINE uint64_t lane_posted_at(const struct lane *lane, struct flow *flow)
{
	uint64_t tick = flow->ticks[flow->first_tick];

	flow->first_tick = flow->first_tick + 1 == lane->depth ? 0 : flow->first_tick + 1;
	return tick;
}

/* UC and UD lose messages without a word. */
static inline bool lane_is_lossy(const struct lane *lane)
{
	return lane->transport != TRANSPORT_RC;
}

#endif
