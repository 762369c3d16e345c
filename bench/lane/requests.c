/* SPDX-License-Identifier: MIT */
/* The work requests of a lane: its receives, and the requests that its loops post repeatedly. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/lane/layout.h"
#include "bench/plan/default_depths.h"
#include "bench/plan/rate.h"
#include "core/base/free_memory.h"
#include "core/rdma/manual_qp.h"
#include "core/verbs/verbs.h"

/* A flow's part of the buffer begins with the sending area, followed by the receiving area. */
static size_t sending(const struct lane *lane, const struct flow *flow)
{
	return flow->number * lane_flow_size(lane);
}

static size_t receiving(const struct lane *lane, const struct flow *flow)
{
	return sending(lane, flow) + lane_area(lane, lane->settings.sent_slots);
}

/* Behind both areas: the notification to send, and the received one. */
static size_t notices(const struct lane *lane, const struct flow *flow)
{
	return receiving(lane, flow) + lane_receiving_area(lane);
}

static struct ibv_sge piece(const struct lane *lane, const struct flow *flow, size_t offset,
			    size_t length)
{
	return (struct ibv_sge){.addr = lane->endpoint.memory.address + offset,
				.length = (uint32_t)length,
				.lkey = flow->region ? flow->region->lkey
						     : lane->endpoint.mr->lkey};
}

static uint64_t receive_id(const struct lane *lane, const struct flow *flow, uint64_t number)
{
	uint64_t slot = lane->settings.shape->is_read ? 0 : number % lane->settings.received_slots;

	return LANE_RECEIVE | slot << LANE_FLOW_BITS | flow->number;
}

/* Runs before the connection is up, because the peer may write or read first. */
static void start_slots(const struct lane *lane, struct flow *flow)
{
	struct verify_slots *slots = &flow->slots;

	slots->first_sent = sending(lane, flow);
	slots->first_received = receiving(lane, flow);
	slots->next_sent = slots->next_received = 0;
	verify_begin(&slots->sent);
	verify_begin(&slots->received);
	slots->sent.sent = slots->first_sent;
	memory_clear(&lane->endpoint.memory, slots->first_received,
		     lane->settings.stride * lane->settings.received_slots);
	if (lane->settings.shape->is_read)
		verify_fill(&slots->sent);
}

/* Pieces add up to exactly the message, so that the message reaches all of them. */
static struct post_work make_receive(const struct lane *lane, const struct flow *flow)
{
	size_t head = parameters_head(lane->settings.parameters);
	bool is_exact = lane->settings.parameters->sge > 1 || lane->settings.walks;
	size_t length = is_exact ? head + lane_message_bytes(lane) : lane->settings.stride;
	struct post_work work = {.n_sges = 1};
	struct ibv_sge place = piece(lane, flow, receiving(lane, flow), length);

	if (lane->settings.shape->is_notified)
		work.sges[0] = piece(lane, flow, notices(lane, flow) + LANE_LEAST_RECEIVE,
				     LANE_LEAST_RECEIVE);
	else
		post_cut(&work, &place, (unsigned int)lane->settings.parameters->sge);
	return work;
}

/*
 * Returns the offset from the part that this side targets to the part that the peer targets; 0 if
 * nothing walks.
 */
static uint64_t peer_part_offset(const struct lane *lane, const struct flow *flow)
{
	return (address_walk_ways(lane->settings.parameters) - 1) * address_walk_bytes(&flow->walk);
}

static void begin_walks(const struct lane *lane, struct flow *flow)
{
	const struct parameters *p = lane->settings.parameters;

	address_walk_init(&flow->walk, p, lane->settings.shape->is_atomic,
			  lane_flow_number(lane, flow->number));
	flow->received = flow->walk;
	flow->local_base = lane->endpoint.memory.address + receiving(lane, flow);
	flow->landing = flow->local_base + peer_part_offset(lane, flow);
}

/* Only valid where receive order does not matter and a missing receive is not a lost message. */
static uint32_t spare_receives(const struct lane *lane, const struct flow *flow)
{
	const struct parameters *p = lane->settings.parameters;
	uint64_t kept =
		p->tx_depth > DEFAULT_DEPTHS_RECEIVES ? p->tx_depth : DEFAULT_DEPTHS_RECEIVES;
	bool is_for_each = p->metric == METRIC_BW && p->iterations != PARAMETER_AUTO &&
			   p->iterations / lane->settings.n_flows <= p->rx_depth;
	bool is_any = !p->verify && !flow->queue.srq && !lane_is_lossy(lane);

	return is_for_each && is_any && p->rx_depth > kept ? (uint32_t)(p->rx_depth - kept) : 0;
}

/* Returns the receives of a list. By default, those with several pieces, or none, have no lists. */
static unsigned int list_length(const struct lane *lane, const struct flow *flow)
{
	const struct parameters *p = lane->settings.parameters;

	if (p->recv_post_list != PARAMETER_AUTO)
		return (unsigned int)p->recv_post_list;
	return p->rx_depth >= LANE_RETURNS_LEAST && flow->receive.n_sges == 1 ? LANE_RETURNS : 1;
}

void lane_forget_returns(struct flow *flow)
{
	free(flow->returns.requests);
	flow->returns = (struct returns){0};
}

static int begin_returns(const struct lane *lane, struct flow *flow, struct error *error)
{
	struct returns *returns = &flow->returns;
	unsigned int each = list_length(lane, flow);

	lane_forget_returns(flow);
	if (each == 1)
		return 0;
	returns->requests = calloc(each, sizeof(*returns->requests) + sizeof(*returns->sges));
	if (!returns->requests)
		return free_memory_refused(error, "make receives");
	returns->sges = (struct ibv_sge *)(returns->requests + each);
	returns->each = each;
	returns->spare = spare_receives(lane, flow);
	returns->is_on = !returns->spare;
	for (unsigned int i = 0; i < each; i++) {
		returns->sges[i] = flow->receive.sges[0];
		returns->requests[i] = (struct ibv_recv_wr){
			.next = i + 1 < each ? &returns->requests[i + 1] : NULL,
			.sg_list = &returns->sges[i],
			.num_sge = (int)flow->receive.n_sges,
		};
	}
	return 0;
}

int lane_receive(struct lane *lane, struct flow *flow, struct error *error)
{
	uint64_t receives =
		lane->settings.is_server ? lane->settings.parameters->receives : RECEIVES_BUFFERS;
	uint64_t wanted = receives == RECEIVES_NONE ? 0 : lane->settings.parameters->rx_depth;
	int code;

	flow->number = (uint32_t)(flow - lane->flows);
	flow->queue = *context_queue(&flow->context);
	flow->receive = make_receive(lane, flow);
	flow->first_receive = flow->receive.sges[0].addr;
	if (receives == RECEIVES_BARE)
		flow->receive.n_sges = 0;
	code = begin_returns(lane, flow, error);
	if (code)
		return code;
	if (lane->settings.walks)
		begin_walks(lane, flow);
	if (lane->settings.parameters->verify && lane->settings.parameters->metric == METRIC_BW)
		start_slots(lane, flow);
	/* A shared receive queue is filled once. */
	if (flow->queue.srq && flow->number)
		wanted = 0;
	for (uint64_t i = 0; i < wanted && !code; i++)
		code = lane_post_receive(lane, flow, receive_id(lane, flow, i), true);
	return code ? lane_post_failed(code, error) : 0;
}

static void make_work(const struct lane *lane, struct flow *flow)
{
	const struct operation_shape *shape = lane->settings.shape;
	const struct parameters *p = lane->settings.parameters;
	const struct rdma_context *context = &flow->context;
	size_t size = lane_message_bytes(lane);
	bool is_fetched = shape->is_read || shape->is_atomic;
	/* The peer's atomics may change the receiving area meanwhile. */
	size_t local = shape->is_read ? receiving(lane, flow) : sending(lane, flow);
	/*
	 * A READ fetches from the peer's sending area; other operations target its receiving area.
	 */
	bool is_sent = shape->is_read && !lane->settings.walks;
	/* The peer's lane has the same layout. */
	size_t peer_flow = pattern_peer_pair(p, lane->settings.is_server, lane->settings.number,
					     flow->number) *
			   lane_flow_size(lane);
	size_t remote =
		is_sent ? peer_flow : peer_flow + lane_area(lane, lane->settings.sent_slots);
	struct ibv_sge whole = piece(lane, flow, local, size);

	flow->work = (struct post_work){.id = flow->number, .add = 1};
	post_cut(&flow->work, &whole, (unsigned int)p->sge);
	manual_qp_aim(context, &flow->work);
	remote += peer_part_offset(lane, flow);
	flow->work.remote = flow->remote_base = context->remote.address + remote;
	/* The CPU copies an inline payload. */
	if (!is_fetched && lane->endpoint.memory.cpu && size <= context->max_inline &&
	    operation_may_inline(&operations[p->op], (enum transport)p->transport))
		flow->work.flags = IBV_SEND_INLINE;
}

/* Prepares the notification, whose content is behind the areas. */
static void make_notice(const struct lane *lane, struct flow *flow)
{
	const struct operation_shape *shape = lane->settings.shape;
	size_t offset = notices(lane, flow);
	uint8_t header[SEND_HEADER_SIZE];
	const struct rdma_message message = {
		.kind = shape->is_read ? RDMA_MESSAGE_READ : RDMA_MESSAGE_WRITTEN,
		.length = lane->settings.parameters->size,
		.offset = flow->work.remote - flow->context.remote.address,
	};

	send_header_encode(header, &message);
	memory_write(&lane->endpoint.memory, offset, header, sizeof(header));
	flow->notice = (struct post_work){.id = flow->number,
					  .n_sges = 1,
					  .route = flow->work.route,
					  .sges = {piece(lane, flow, offset, SEND_HEADER_SIZE)}};
	/* Wait until the data have arrived; writes are ordered anyway. */
	if (shape->is_read)
		flow->notice.flags = IBV_SEND_FENCE;
	/* Both use the same path, because the path is a constant of the loop. */
	if (flow->work.flags & IBV_SEND_INLINE && SEND_HEADER_SIZE <= flow->context.max_inline)
		flow->notice.flags |= IBV_SEND_INLINE;
	else
		flow->work.flags &= ~(unsigned int)IBV_SEND_INLINE;
}

/*
 * Makes the flow's requests bind a memory window first. The message follows, if there is one, or the
 * window is invalidated.
 */
static int make_window(const struct lane *lane, struct flow *flow, struct error *error)
{
	const struct operation_shape *shape = lane->settings.shape;
	int code = window_open(&flow->window, lane->endpoint.pd, (enum ibv_mw_type)shape->binds,
			       lane->settings.parameters->size, error);

	if (code)
		return code;
	flow->notice = shape->invalidates ? flow->work : (struct post_work){.id = flow->number};
	flow->work = (struct post_work){.id = flow->number,
					.window = &flow->window.post,
					.rkey = flow->window.post.mw->rkey};
	return 0;
}

static int make_ticks(struct lane *lane, struct flow *flow, struct error *error)
{
	/* A load also stores when each message was due. */
	size_t each = lane->settings.parameters->metric == METRIC_LOAD
			      ? 2
			      : lane->settings.parameters->latencies;

	free(flow->ticks);
	flow->ticks = each ? cacheline_calloc(lane->settings.tx_depth, each * sizeof(*flow->ticks))
			   : NULL;
	flow->first_tick = flow->next_tick = 0;
	if (each && !flow->ticks)
		return free_memory_refused(error, "time messages");
	return 0;
}

static int make_list(struct lane *lane, struct flow *flow, struct error *error)
{
	int code;

	post_list_close(&flow->list);
	if (lane->settings.post_list < 2)
		return 0;
	code = post_list_open(&flow->list, lane->settings.post_list, error);
	for (unsigned int i = 0; i < flow->list.n && !code; i++)
		flow->list.works[i] = flow->work;
	return code;
}

/* Data that the peer only reads is filled once. */
static void start_verify(struct lane *lane)
{
	struct verify *verify = &lane->verify;

	verify_begin(verify);
	verify->length = lane_message_bytes(lane);
	verify->memory = &lane->endpoint.memory;
	verify->sent = 0;
	verify->received =
		receiving(lane, &lane->flows[0]) + parameters_head(lane->settings.parameters);
	if (verify->every && lane->settings.shape->is_read) {
		verify_fill(verify);
		memory_clear(verify->memory, verify->received, verify->length);
	}
}

/* Clears the last bytes of the previous trial, so that polling does not find them. */
static void forget_rounds(struct lane *lane)
{
	struct flow *flow = &lane->flows[0];
	struct address_walk walk = flow->walk;
	const struct memory *memory = &lane->endpoint.memory;
	size_t last = flow->local_base - memory->address + lane->settings.parameters->size - 1;

	for (uint64_t i = 0; i < lane->rounds && i <= walk.mask; i++)
		memory_poke(memory, last + address_walk_next(&walk), 0);
	lane->rounds = 0;
}

static int limit_rate(const struct lane *lane, const struct flow *flow, struct error *error)
{
	uint64_t limit = lane->settings.parameters->rate_limit;
	struct ibv_qp_rate_limit_attr attr = {.rate_limit = (uint32_t)(rate_amount(limit) / 1000)};
	int code;

	if (limit == PARAMETER_AUTO)
		return 0;
	code = verbs_result(ibv_modify_qp_rate_limit(flow->context.qp, &attr));
	return code ? error_set_errno(error, code, "cannot limit the rate of a queue pair") : 0;
}

int lane_start(struct lane *lane, struct error *error)
{
	int code = 0;

	for (unsigned int i = 0; i < lane->settings.n_flows && !code; i++) {
		struct flow *flow = &lane->flows[i];

		flow->room = lane->settings.tx_depth;
		flow->unsignaled = 0;
		make_work(lane, flow);
		if (lane->settings.shape->is_notified)
			make_notice(lane, flow);
		code = limit_rate(lane, flow, error);
		if (!code && lane->settings.shape->binds && !lane->settings.is_server)
			code = make_window(lane, flow, error);
		if (!code)
			code = make_ticks(lane, flow, error);
		if (!code)
			code = make_list(lane, flow, error);
	}
	lane_forget_due(lane);
	lane->last_sent = lane_message_bytes(lane) - 1;
	lane->last_received = lane->last_sent + receiving(lane, &lane->flows[0]);
	/*
	 * A stream has its own slots, and the peer of a bidirectional stream may already have
	 * started.
	 */
	if (lane->settings.parameters->metric == METRIC_LAT) {
		memory_poke(&lane->endpoint.memory, lane->last_sent, 0);
		memory_poke(&lane->endpoint.memory, lane->last_received, 0);
		start_verify(lane);
	}
	if (lane->settings.walks)
		forget_rounds(lane);
	lane->deferred = 0;
	lane->until_signal = lane->settings.signal_every;
	lane->is_signal_outstanding = false;
	lane->lost_in_a_row = 0;
	lane->result = (struct lane_result){0};
	for (unsigned int i = 0; i < lane->settings.n_flows; i++)
		lane->flows[i].arrived = 0;
	lane->path = post_choose(&lane->flows[0].queue,
				 lane->settings.shape->invalidates && !lane->settings.is_server
					 ? &lane->flows[0].notice
					 : &lane->flows[0].work);
	return code;
}
