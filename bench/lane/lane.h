/* SPDX-License-Identifier: MIT */
/*
 * What one thread drives: queue pairs on one ground, a buffer with an area that is sent
 * from and one that is received into for each of them, and the work requests made
 * ready. Buffer and completion queue live as long as the lane, the queue pairs for one
 * trial: connect.h makes them. A lane belongs to the thread that runs it. Whatever a loop
 * writes is in the lane, or hangs on it alone: each is on cache lines of its own, so that
 * the threads of a case write none of another's. What the provider has once for each
 * context of a device, as doorbells, is shared: all lanes have librdmacm's.
 */
#ifndef BENCH_LANE_LANE_H
#define BENCH_LANE_LANE_H

#include "bench/control/secret.h"
#include "bench/lane/placement.h"
#include "bench/lane/verify.h"
#include "bench/plan/address_walk.h"
#include "bench/plan/operation.h"
#include "bench/plan/pattern.h"
#include "core/base/cacheline.h"
#include "core/rdma/context.h"
#include "core/verbs/device.h"

/* In the wr_id of receives; both have their queue pair's number, and more above it. */
#define LANE_RECEIVE   (1ULL << 63)
#define LANE_FLOW_BITS 16

/*
 * Of a stream whose messages are looked at: each one under way has a slot of its own.
 * What goes out takes them in turn, and so does what is read.
 */
struct verify_slots {
	struct verify sent;
	struct verify received;
	size_t first_sent; /* in the memory of the endpoint */
	size_t first_received;
	uint32_t next_sent;
	uint32_t next_received;
};

/*
 * Receives of a stream that are posted again by one call: 0.34 us of instructions for each on
 * Soft-RoCE, where a call of its own takes 0.58. Only where so many are posted that these are not
 * missed meanwhile.
 */
#define LANE_RETURNS       16
#define LANE_RETURNS_LEAST 128

/*
 * And who asked for more than any stream has, a receive for each message that is counted, has as
 * few of them to post again as there can be: first those are used up that others would not have.
 */
struct returns {
	bool is_on;
	uint32_t spare; /* if there are any, they are not posted again, and it is on after that */
	unsigned int count; /* that are to be posted */
	struct ibv_recv_wr requests[LANE_RETURNS];
	struct ibv_sge sges[LANE_RETURNS]; /* one of each */
};

/* One queue pair. */
struct flow {
	struct post_queue queue;
	struct post_work work; /* the operation of this case */
	struct post_list list; /* so many at once; n is 0 for one */
	uint64_t left;         /* operations that are still to be posted */
	uint64_t share;        /* of them when the loop began, */
	uint32_t room_before;  /* and the room that there was */
	uint32_t number;
	uint32_t room;         /* operations that may be posted now */
	uint32_t silent;       /* posts since the last one that was signalled */
	bool is_due;           /* among those of a stream that may have room, */
	struct flow *next_due; /* before that one */
	uint64_t *ticks; /* of the posts under way, if timed: a ring. Of a load, two for each */
	uint32_t first_tick;
	uint32_t next_tick;
	struct post_work notice;
	struct post_work receive; /* into the receiving area */
	struct returns returns;
	uint64_t first_receive; /* the address of its first slot */
	struct verify_slots slots;
	struct address_walk walk;     /* of its posts, */
	struct address_walk received; /* and of its receives; where the lane walks */
	uint64_t landing;             /* the first place of those, */
	uint64_t near;                /* of the posts here, and there */
	uint64_t far;
	struct rdma_context context;
	struct secret_tickets tickets; /* that its connections show; where there is a secret */
};

/* Of a case at one end: what a lane is made for. All of it stays the caller's. */
struct lane_wish {
	const char *device;
	const struct parameters *parameters;
	const struct operation_shape *shape;
	bool is_server;
	unsigned int number;       /* of the thread, from 0 */
	unsigned int signal_every; /* posts that share one completion */
	struct memory *spare;      /* as a ground's: that of the lane before; NULL: none */
};

/* Constant from lane_init on. */
struct lane_settings {
	const struct parameters *parameters;
	const struct operation_shape *shape;
	uint64_t stalled_ns;
	uint64_t lost_ns;    /* without the answer to a message: it is missed */
	uint32_t tx_depth;   /* operations in flight on each queue pair */
	uint32_t look_every; /* posts of a stream between two looks at completions */
	unsigned int n_flows;
	unsigned int post_list;    /* operations posted by one call */
	unsigned int signal_every; /* posts that share one completion */
	bool walks;                /* messages go to one place after another */
	bool may_owe;              /* there are more receives than the one that is looked at */
	bool is_server;
	unsigned int number;     /* of the case's lanes at this end, from 0 */
	uint32_t sent_slots;     /* slots of a flow to send from */
	uint32_t received_slots; /* ... to receive into */
	size_t stride;           /* bytes of a slot */
};

/* Counts of all loops since the queue pairs were made. */
struct lane_result {
	uint64_t posted;   /* messages */
	uint64_t messages; /* operations done */
	uint64_t received; /* messages that have come */
	uint64_t completions;
	uint64_t first_tick; /* when a stream's time began */
	uint64_t last_tick;  /* when the stream's last completion was seen */
	uint64_t left; /* messages that a sink received but did not count, because the case ended */
	uint64_t lost; /* messages that did not arrive in time, on a transport that may lose them */
};

/* One thread's live state. Owns its device, queue pairs and buffers. */
struct lane {
	CACHELINE_ALIGNED struct device_handle device;
	struct placement placement; /* of the thread */
	struct endpoint endpoint;
	struct memory other; /* that is registered again and again: here, or by who grants it */
	struct flow *flows;
	struct flow *first_due; /* of a stream: who may have room, for longest first, */
	struct flow **last_due; /* and where the next one is linked */
	uint32_t turn;       /* posts of the first one's turn that are left; 0: it has not begun */
	enum post_path path; /* chosen by lane_start */
	unsigned int until_signal; /* posts until one is signalled: of latency loops */
	bool is_signal_out;        /* its completion has not come yet */
	unsigned int lost_in_a_row;
	uint64_t lost_at; /* the number of the message that was lost last */
	uint64_t owed;    /* a receive that is posted again once there is an answer; 0: none */
	size_t last_sent; /* the last byte of the first flow's areas, in the memory of the endpoint */
	size_t last_received;
	struct lane_settings settings;
	struct lane_result result;
	uint64_t rounds;      /* so many have walked that poll memory */
	struct verify verify; /* of the first flow's messages, one at a time */
};

/* Zeroes a lane and derives its settings. The wish's parameters and shape stay the caller's. */
void lane_init(struct lane *lane, const struct lane_wish *wish);

/*
 * Makes ground and flows, for one end of a case. Until lane_close, which the same thread
 * calls, that runs where the case wants it.
 */
int lane_open(struct lane *lane, const struct lane_wish *wish, struct error *error);
void lane_close(struct lane *lane);

/* All that the lanes of a case will ask of their device together, at one end. */
struct limits lane_limits(const struct parameters *parameters, const struct operation_shape *shape,
			  bool is_server);

/* How long one end's memory and queue pairs may take to be set up: beside any answer. */
unsigned int lane_setup_ms(const struct parameters *parameters,
			   const struct operation_shape *shape);

/* How that end waits for completions. */
enum rdma_wait_mode lane_wait_mode(const struct parameters *parameters, bool is_server);

/* Settings for the context of each flow. */
struct rdma_settings lane_context_settings(const struct lane *lane);

/* Once a flow has its queue pair: posts its receives. */
int lane_receive(struct lane *lane, struct flow *flow, struct error *error);

/* Once all are connected: makes the work requests ready. */
int lane_start(struct lane *lane, struct error *error);

/* Releases the queue pairs and makes the ground ready for others. */
int lane_stop(struct lane *lane, struct error *error);

/* The same, but what listens goes on, for connections to come. */
int lane_renew(struct lane *lane, struct error *error);

/* The next connection of a flow shows its next ticket, or has to be shown it. */
void lane_show_ticket(struct flow *flow);

/* Posts of a queue pair between two looks at completions: that many, or one list. */
uint32_t lane_look_every(const struct parameters *parameters);

/* Shares so many operations out to the queue pairs; UINT64_MAX: without end. */
void lane_share_out(struct lane *lane, uint64_t messages);

/* Of the last loop: operations of a flow that are done. Those of all add up to its messages. */
uint64_t lane_flow_done(const struct flow *flow);

/* Counts that anew for all of them. */
COLD void lane_forget_done(struct lane *lane);

/* Nobody is known to have room. */
void lane_forget_due(struct lane *lane);

/* A context refused: its reason becomes the error. */
int lane_failed(const struct flow *flow, struct error *error);

/* Nothing for settings.stalled_ns, at an end that drives, is a failure. */
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

/* That of a flow of this lane's among those of all lanes of the case. */
static inline unsigned int lane_flow_number(const struct lane *lane, unsigned int flow)
{
	return pattern_number(lane->settings.parameters, lane->settings.is_server,
			      lane->settings.number, flow);
}

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

/* Where the receive of that id is to be put: where it was, or walk. */
static ALWAYS_INLINE uint64_t lane_landing(const struct lane *lane, struct flow *flow, uint64_t id,
					   bool is_moved)
{
	if (is_moved && lane->settings.walks)
		return flow->landing + address_walk_next(&flow->received);
	return flow->first_receive + lane_receive_slot(id) * lane->settings.stride;
}

/*
 * Again: id is that of the receive. is_moved, a constant: receives have several places, so that
 * all of its pieces are to be put there.
 */
static ALWAYS_INLINE int lane_post_receive(struct lane *lane, struct flow *flow, uint64_t id,
					   bool is_moved)
{
	uint64_t place = lane_landing(lane, flow, id, is_moved);

	flow->receive.id = id;
	if (is_moved)
		post_move(&flow->receive, place);
	else
		flow->receive.sges[0].addr = place;
	return flow->queue.srq ? post_receive_shared(&flow->queue, &flow->receive)
			       : post_receive(&flow->queue, &flow->receive);
}

/* What a completion tells; if it is a message's, its receive is not posted again. */
static ALWAYS_INLINE int lane_see(struct lane *lane, const struct ibv_wc *wc, bool *is_message,
				  struct error *error)
{
	*is_message = wc->wr_id & LANE_RECEIVE;
	if (unlikely(wc->status != IBV_WC_SUCCESS))
		return lane_completion_failed(wc, error);
	/* Who answers looks nowhere else where the device is fast: no poll is ever empty. */
	if (unlikely(alarm_raised(&lane->endpoint.alarm)))
		return alarm_reason(&lane->endpoint.alarm, error);
	lane->result.completions++;
	if (*is_message)
		lane->result.received++;
	else
		lane->is_signal_out = false;
	return 0;
}

/* lane_post_receive, of a stream: with others, once there are enough. */
static ALWAYS_INLINE int lane_return_receive(struct lane *lane, struct flow *flow, uint64_t id,
					     bool is_moved)
{
	struct returns *returns = &flow->returns;
	struct ibv_recv_wr *bad;

	if (unlikely(!returns->is_on)) {
		if (!returns->spare)
			return lane_post_receive(lane, flow, id, is_moved);
		returns->is_on = !--returns->spare;
		return 0;
	}
	returns->requests[returns->count].wr_id = id;
	returns->sges[returns->count].addr = lane_landing(lane, flow, id, is_moved);
	if (likely(++returns->count < LANE_RETURNS))
		return 0;
	returns->count = 0;
	return flow->queue.srq ? ibv_post_srq_recv(flow->queue.srq, returns->requests, &bad)
			       : ibv_post_recv(flow->queue.qp, returns->requests, &bad);
}

typedef int lane_poster(struct lane *lane, struct flow *flow, uint64_t id, bool is_moved);

/* post: a constant, which posts its receive again. */
static ALWAYS_INLINE int lane_take_and(struct lane *lane, const struct ibv_wc *wc, bool *is_message,
				       lane_poster post, bool is_moved, struct error *error)
{
	int code = lane_see(lane, wc, is_message, error);

	if (unlikely(code))
		return code;
	if (!*is_message)
		return 0;
	code = post(lane, &lane->flows[lane_flow(wc)], wc->wr_id, is_moved);
	return unlikely(code) ? lane_post_failed(code, error) : 0;
}

/* Takes one completion of a stream. Sets *is_message for a receive. */
static ALWAYS_INLINE int lane_take_next(struct lane *lane, const struct ibv_wc *wc,
					bool *is_message, bool is_moved, struct error *error)
{
	return lane_take_and(lane, wc, is_message, lane_return_receive, is_moved, error);
}

/* The receive that is still to be posted again, if there is one. */
static ALWAYS_INLINE int lane_repay(struct lane *lane, bool is_moved, struct error *error)
{
	uint64_t id = lane->owed;
	int code;

	if (unlikely(!id))
		return 0;
	lane->owed = 0;
	code = lane_post_receive(lane, &lane->flows[id & ((1U << LANE_FLOW_BITS) - 1)], id,
				 is_moved);
	return unlikely(code) ? lane_post_failed(code, error) : 0;
}

/* Takes one completion that was waited for. Sets *is_message for a receive. */
static ALWAYS_INLINE int lane_take(struct lane *lane, const struct ibv_wc *wc, bool *is_message,
				   struct error *error)
{
	return lane_take_and(lane, wc, is_message, lane_post_receive, false, error);
}

/* Where the next message goes, and comes from. */
static ALWAYS_INLINE void lane_walk(struct flow *flow, struct post_work *work)
{
	uint64_t offset = address_walk_next(&flow->walk);

	work->remote = flow->far + offset;
	post_move(work, flow->near + offset);
}

/* Computes for that long, as a program does that has other work than messages. */
COLD void lane_compute(uint64_t ns);

static ALWAYS_INLINE void lane_think(const struct lane *lane)
{
	if (unlikely(lane->settings.parameters->think_ns))
		lane_compute(lane->settings.parameters->think_ns);
}

/* The times of posts: as many as there is room for, and in order. */
static ALWAYS_INLINE void lane_note_post(const struct lane *lane, struct flow *flow, uint64_t tick)
{
	flow->ticks[flow->next_tick] = tick;
	flow->next_tick = flow->next_tick + 1 == lane->settings.tx_depth ? 0 : flow->next_tick + 1;
}

static ALWAYS_INLINE uint64_t lane_posted_at(const struct lane *lane, struct flow *flow)
{
	uint64_t tick = flow->ticks[flow->first_tick];

	flow->first_tick =
		flow->first_tick + 1 == lane->settings.tx_depth ? 0 : flow->first_tick + 1;
	return tick;
}

/* Whether messages may be lost without a word. */
static inline bool lane_is_lossy(const struct lane *lane)
{
	return !parameters_has(lane->settings.parameters, TRANSPORT_RELIABLE);
}

#endif
