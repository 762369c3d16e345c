/* SPDX-License-Identifier: MIT */
/*
 * The queue pairs, buffer and prepared work requests of one thread. For each queue pair, the
 * buffer has an area to send from and an area to receive into. Buffer and completion queue live as
 * long as the lane; queue pairs live for one trial and are made by connect.h. A lane belongs to
 * the thread that runs it. Everything that a loop writes is in the lane or reachable only from it,
 * on its own cache lines, so that threads do not write to each other's lines. Per-context
 * resources of the provider, such as doorbells, are shared, because all lanes use librdmacm's
 * context.
 */
#ifndef BENCH_LANE_LANE_H
#define BENCH_LANE_LANE_H

#include "bench/control/secret.h"
#include "bench/lane/payload.h"
#include "bench/lane/placement.h"
#include "bench/lane/verify.h"
#include "bench/lane/window.h"
#include "bench/plan/address_walk.h"
#include "bench/plan/operation.h"
#include "bench/plan/pattern.h"
#include "core/base/cacheline.h"
#include "core/rdma/context.h"
#include "core/rdma/multicast.h"
#include "core/verbs/device.h"

/*
 * Marks the wr_id of receives. The low LANE_FLOW_BITS of every wr_id are the number of the queue
 * pair.
 */
#define LANE_RECEIVE   (1ULL << 63)
#define LANE_FLOW_BITS 16

/*
 * A verified stream: each message in flight has its own slot. Sends and reads use the slots in
 * turn.
 */
struct verify_slots {
	struct verify sent;
	struct verify received;
	size_t first_sent; /* in the endpoint's memory */
	size_t first_received;
	uint32_t next_sent;
	uint32_t next_received;
};

/*
 * By default a stream reposts its receives in lists of LANE_RETURNS: 0.34 us of instructions each on
 * Soft-RoCE, instead of 0.58 with one call per receive. Only if at least LANE_RETURNS_LEAST are
 * posted, so that the ones held back are not missed.
 */
#define LANE_RETURNS       16
#define LANE_RETURNS_LEAST 128

/*
 * Receives to repost. If a counted run has a receive for each message, as few as possible are
 * reposted: the spare ones are used up first.
 */
struct returns {
	bool is_on;
	uint32_t spare;     /* need not be reposted; is_on is set once they are used up */
	unsigned int count; /* receives held back */
	unsigned int each;  /* receives of a list */
	struct ibv_recv_wr *requests;
	struct ibv_sge *sges; /* one per request; in the same allocation */
};

/* One queue pair. */
struct flow {
	struct post_queue queue;
	struct post_work work; /* the case's operation */
	struct post_list list; /* a post list; n is 0 without --post-list */
	uint64_t left;         /* operations still to post */
	uint64_t share;        /* value of `left` when the loop began */
	uint32_t room_before;  /* value of `room` when the loop began */
	uint32_t number;
	uint32_t room;         /* operations that can be posted now */
	uint32_t unsignaled;   /* posts since the last signaled one */
	bool is_due;           /* in the stream's list of flows that may have room */
	struct flow *next_due; /* the next in that list */
	uint64_t *ticks; /* post times of messages in flight: a ring; for a load, two per message */
	uint32_t first_tick;
	uint32_t next_tick;
	struct post_work notice;
	struct window window;     /* if the operation binds one */
	struct post_work receive; /* posted to the receiving area */
	struct returns returns;
	uint64_t first_receive; /* the address of its first slot */
	struct verify_slots slots;
	struct address_walk walk;     /* of its posts */
	struct address_walk received; /* of its receives; both only if the lane walks */
	uint64_t landing;             /* first place of receives */
	uint64_t local_base;          /* first place of posts in the local buffer */
	uint64_t remote_base;         /* ... and in the peer's */
	uint64_t arrived;      /* with multicast: messages received since the queue pair was made */
	struct ibv_mr *region; /* its part of the buffer; NULL: the endpoint's region */
	struct rdma_context context;
	struct secret_tickets tickets; /* shown when connecting, if there is a secret */
};

/* The case and side to create a lane for. The caller keeps ownership of everything. */
struct lane_wish {
	const char *device;
	const struct parameters *parameters;
	const struct operation_shape *shape;
	bool is_server;
	unsigned int number;           /* the thread's number, from 0 */
	unsigned int signal_every;     /* posts that share one completion */
	struct memory *spare;          /* memory of the previous lane to reuse, or NULL */
	const struct payload *payload; /* content of the buffer; NULL: any */
};

/* Constant from lane_init on. */
struct lane_settings {
	const struct parameters *parameters;
	const struct operation_shape *shape;
	uint64_t stalled_ns;
	uint64_t lost_ns;    /* a message without a reply for this long is lost */
	uint32_t tx_depth;   /* operations in flight on each queue pair */
	uint32_t look_every; /* posts of a stream between two polls of the CQ */
	unsigned int n_flows;
	unsigned int post_list;    /* operations posted by one call */
	unsigned int signal_every; /* posts that share one completion */
	bool walks;                /* messages go to changing addresses */
	bool may_defer;            /* reposting can wait, because there is more than one receive */
	bool is_server;
	unsigned int number;     /* among this side's lanes of the case, from 0 */
	uint32_t sent_slots;     /* slots of a flow to send from */
	uint32_t received_slots; /* ... to receive into */
	size_t stride;           /* bytes of a slot */
};

/* Counts of all loops since the queue pairs were made. */
struct lane_result {
	uint64_t posted;   /* messages */
	uint64_t messages; /* operations done */
	uint64_t received; /* messages received */
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
	struct memory other;    /* registered repeatedly, or granted */
	struct multicast group; /* joined by lane_offer and lane_answer until lane_close */
	struct flow *flows;
	struct flow *first_due; /* of a stream: flows that may have room, longest waiting first */
	struct flow **last_due; /* where to link the next one */
	uint32_t turn;          /* posts left in the turn of first_due; 0: not started */
	enum post_path path;    /* chosen by lane_start */
	unsigned int until_signal;  /* latency loops: posts until the next signaled one */
	bool is_signal_outstanding; /* the signaled post has not completed yet */
	unsigned int lost_in_a_row;
	uint64_t lost_at;  /* number of the last lost message */
	uint64_t deferred; /* a receive to repost after the reply; 0: none */
	size_t last_sent;  /* last byte of the first flow's areas, in the endpoint's memory */
	size_t last_received;
	struct lane_settings settings;
	struct lane_result result;
	uint64_t rounds;      /* rounds of a memory-polling loop that walked */
	struct verify verify; /* for the first flow of a latency loop */
};

/* Initializes a lane and derives its settings. The caller keeps the wish's parameters and shape. */
void lane_init(struct lane *lane, const struct lane_wish *wish);

/*
 * Opens the endpoint and allocates the flows for one side of a case. Moves the calling thread to
 * the CPUs that the case asks for until lane_close, which the same thread must call.
 */
int lane_open(struct lane *lane, const struct lane_wish *wish, struct error *error);
void lane_close(struct lane *lane);

/* Returns the device resources that all lanes of a side need together. */
struct limits lane_limits(const struct parameters *parameters, const struct operation_shape *shape,
			  bool is_server);

/*
 * Fails if the client's memory for the case cannot work on this host, whatever the device supports.
 * Allocates nothing.
 */
int lane_check_memory(const struct parameters *parameters, const struct operation_shape *shape,
		      const char *device, struct error *error);

/*
 * Returns how long a side may take to set up memory and queue pairs, on top of the time limit for
 * a reply.
 */
unsigned int lane_setup_ms(const struct parameters *parameters,
			   const struct operation_shape *shape);

/* Returns the completion mode of a side. */
enum rdma_wait_mode lane_wait_mode(const struct parameters *parameters, bool is_server);

/* Returns the settings for each flow's context. */
struct rdma_settings lane_context_settings(const struct lane *lane);

/* Posts the receives of a flow. Call once it has its queue pair. */
int lane_receive(struct lane *lane, struct flow *flow, struct error *error);

/* Frees the list of receives that are held back. */
void lane_forget_returns(struct flow *flow);

/* Prepares the work requests. Call once all flows are connected. */
int lane_start(struct lane *lane, struct error *error);

/* Releases the queue pairs and resets the endpoint for new ones. */
int lane_stop(struct lane *lane, struct error *error);

/* The same, but keeps listening for new connections. */
int lane_renew(struct lane *lane, struct error *error);

/* Sets the ticket that a flow's next connection shows, or must be shown. */
void lane_show_ticket(struct flow *flow);

/* Returns the number of posts between two polls of the CQ; a longer post list is not split. */
uint32_t lane_look_every(const struct parameters *parameters);

/* Distributes the operations over the queue pairs. UINT64_MAX: unlimited. */
void lane_share_out(struct lane *lane, uint64_t messages);

/*
 * Returns the operations of a flow that the last loop completed. Their sum is the lane's messages.
 */
uint64_t lane_flow_done(const struct flow *flow);

/* Resets that count for all flows. */
COLD void lane_forget_done(struct lane *lane);

/* Clears the list of flows that may have room. */
void lane_forget_due(struct lane *lane);

/* Sets the error to the reason for a context's failure. */
int lane_failed(const struct flow *flow, struct error *error);

/* Reports that nothing arrived for settings.stalled_ns on the side that drives. */
COLD int lane_stalled(const struct lane *lane, struct error *error);

/*
 * Handles a wait for the reply to message `number` that ended with `code`. On unreliable
 * transports a missing reply is counted; only the tenth in a row for the same message is a
 * failure.
 */
COLD int lane_missed(struct lane *lane, uint64_t number, int code, struct error *error);

/* Waits until the signaled operation completes. */
COLD int lane_settle(struct lane *lane, struct error *error);

/* Set the error for a failed post or a failed completion. */
COLD int lane_post_failed(int code, struct error *error);
COLD int lane_completion_failed(const struct ibv_wc *wc, struct error *error);

/* Returns the number of this lane's flow among those of all lanes of the case. */
static inline unsigned int lane_flow_number(const struct lane *lane, unsigned int flow)
{
	return pattern_number(lane->settings.parameters, lane->settings.is_server,
			      lane->settings.number, flow);
}

/* Returns the number of the queue pair of a completed post or receive. */
static ALWAYS_INLINE uint32_t lane_flow(const struct ibv_wc *wc)
{
	return wc->wr_id & ((1U << LANE_FLOW_BITS) - 1);
}

/* Returns the slot of a receive. */
static ALWAYS_INLINE uint64_t lane_receive_slot(uint64_t id)
{
	return (id & ~LANE_RECEIVE) >> LANE_FLOW_BITS;
}

/* Returns the address to repost a receive at: its own slot, or the next place of the walk. */
static ALWAYS_INLINE uint64_t lane_landing(const struct lane *lane, struct flow *flow, uint64_t id,
					   bool is_moved)
{
	if (is_moved && lane->settings.walks)
		return flow->landing + address_walk_next(&flow->received);
	return flow->first_receive + lane_receive_slot(id) * lane->settings.stride;
}

/*
 * Reposts a receive. id is its wr_id. is_moved is a constant: the address of the receive may
 * change, so all of its pieces are moved.
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

/* Accounts for a completion. Sets *is_message for a receive, which is not reposted. */
static ALWAYS_INLINE int lane_see(struct lane *lane, const struct ibv_wc *wc, bool *is_message,
				  struct error *error)
{
	*is_message = wc->wr_id & LANE_RECEIVE;
	if (unlikely(wc->status != IBV_WC_SUCCESS))
		return lane_completion_failed(wc, error);
	/*
	 * On a fast device no poll is ever empty, so this is the responder's only check of the
	 * alarm.
	 */
	if (unlikely(alarm_raised(&lane->endpoint.alarm)))
		return alarm_reason(&lane->endpoint.alarm, error);
	lane->result.completions++;
	if (*is_message)
		lane->result.received++;
	else
		lane->is_signal_outstanding = false;
	return 0;
}

/* Reposts a receive of a stream, together with others once there are enough. */
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
	if (likely(++returns->count < returns->each))
		return 0;
	returns->count = 0;
	return flow->queue.srq ? ibv_post_srq_recv(flow->queue.srq, returns->requests, &bad)
			       : ibv_post_recv(flow->queue.qp, returns->requests, &bad);
}

typedef int lane_poster(struct lane *lane, struct flow *flow, uint64_t id, bool is_moved);

/* Takes a completion. post, a constant, reposts its receive. */
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

/* Reposts the deferred receive, if there is one. */
static ALWAYS_INLINE int lane_post_deferred(struct lane *lane, bool is_moved, struct error *error)
{
	uint64_t id = lane->deferred;
	int code;

	if (unlikely(!id))
		return 0;
	lane->deferred = 0;
	code = lane_post_receive(lane, &lane->flows[id & ((1U << LANE_FLOW_BITS) - 1)], id,
				 is_moved);
	return unlikely(code) ? lane_post_failed(code, error) : 0;
}

/* Takes one completion of a latency loop. Sets *is_message for a receive. */
static ALWAYS_INLINE int lane_take(struct lane *lane, const struct ibv_wc *wc, bool *is_message,
				   struct error *error)
{
	return lane_take_and(lane, wc, is_message, lane_post_receive, false, error);
}

/* Moves a work request to the next place of the walk, on both sides. */
static ALWAYS_INLINE void lane_walk(struct flow *flow, struct post_work *work)
{
	uint64_t offset = address_walk_next(&flow->walk);

	work->remote = flow->remote_base + offset;
	post_move(work, flow->local_base + offset);
}

/* Keeps the CPU busy for that long, to simulate a program with other work. */
COLD void lane_compute(uint64_t ns);

static ALWAYS_INLINE void lane_think(const struct lane *lane)
{
	if (unlikely(lane->settings.parameters->think_ns))
		lane_compute(lane->settings.parameters->think_ns);
}

/* Adds to the ring of post times, and removes from it, in order. */
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

/* Returns whether messages may be lost without an error. */
static inline bool lane_is_lossy(const struct lane *lane)
{
	return !parameters_has(lane->settings.parameters, TRANSPORT_RELIABLE);
}

#endif
