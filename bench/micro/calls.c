/* SPDX-License-Identifier: MIT */
#include "bench/micro/calls.h"

#include "bench/loop/sink.h"
#include "bench/loop/stream.h"

/* All members are constants at the call. */
struct calls_kind {
	enum post_operation operation;
	enum post_path path;
	bool is_answered;
	bool is_notified;
	enum route_kind route;
};

/* Work requests for ibv_post_send, prepared in advance. */
struct calls_posts {
	struct ibv_send_wr one;
	struct ibv_send_wr notice;
	struct ibv_send_wr *sends; /* one, or the lane's list */
	unsigned int n;
};

static ALWAYS_INLINE void build(struct ibv_qp_ex *qpx, const struct post_work *work,
				const struct calls_kind kind, unsigned int flags)
{
	enum post_operation operation = kind.operation;
	const struct ibv_sge *sge = &work->sges[0];

	qpx->wr_id = 0;
	qpx->wr_flags = flags;
	if (operation == POST_SEND)
		ibv_wr_send(qpx);
	else if (operation == POST_WRITE)
		ibv_wr_rdma_write(qpx, 0, 0);
	else if (operation == POST_WRITE_IMM)
		ibv_wr_rdma_write_imm(qpx, 0, 0, 0);
	else if (operation == POST_FETCH_ADD)
		ibv_wr_atomic_fetch_add(qpx, 0, 0, 0);
	else if (operation == POST_COMPARE_SWAP)
		ibv_wr_atomic_cmp_swp(qpx, 0, 0, 0, 0);
	else
		ibv_wr_rdma_read(qpx, 0, 0);
	if (kind.route == ROUTE_ADDRESS)
		ibv_wr_set_ud_addr(qpx, NULL, 0, 0);
	if (kind.path == POST_EXTENDED_INLINE)
		ibv_wr_set_inline_data(qpx, (void *)(uintptr_t)sge->addr, sge->length);
	else
		ibv_wr_set_sge(qpx, 0, sge->addr, sge->length);
}

static ALWAYS_INLINE void post_some(struct flow *flow, struct ibv_send_wr *sends, unsigned int n,
				    const struct calls_kind kind, unsigned int flags)
{
	struct ibv_qp_ex *qpx = flow->queue.qpx;
	struct ibv_send_wr *bad;

	if (kind.path == POST_CLASSIC) {
		sends[n - 1].send_flags = flags;
		ibv_post_send(flow->queue.qp, sends, &bad);
		return;
	}
	ibv_wr_start(qpx);
	for (unsigned int i = 1; i < n; i++)
		build(qpx, &flow->work, kind, 0);
	build(qpx, &flow->work, kind, flags);
	ibv_wr_complete(qpx);
}

/* Posts one message or list, and the notification. */
static ALWAYS_INLINE void post(struct flow *flow, struct calls_posts *posts,
			       const struct calls_kind kind, unsigned int flags)
{
	const struct calls_kind notice = {.operation = POST_SEND, .path = kind.path};

	post_some(flow, posts->sends, posts->n, kind, kind.is_notified ? 0 : flags);
	if (kind.is_notified)
		post_some(flow, &posts->notice, 1, notice, flags);
}

static struct ibv_recv_wr receive_of(struct flow *flow)
{
	return (struct ibv_recv_wr){
		.wr_id = flow->receive.id, .sg_list = flow->receive.sges, .num_sge = 1};
}

/* Like a stream, reposts receives in lists. */
static void make_returns(struct flow *flow)
{
	for (unsigned int i = 0; i < flow->returns.each; i++)
		flow->returns.requests[i].wr_id = flow->receive.id;
}

static ALWAYS_INLINE void return_receive(struct flow *flow)
{
	struct ibv_recv_wr *bad;

	if (++flow->returns.count < flow->returns.each)
		return;
	flow->returns.count = 0;
	ibv_post_recv(flow->queue.qp, flow->returns.requests, &bad);
}

/* posts must not move: it points to itself. */
static void make_posts(struct calls_posts *posts, struct lane *lane, enum post_operation operation)
{
	struct flow *flow = &lane->flows[0];

	post_request(&posts->one, &flow->work, operation, 0);
	post_request(&posts->notice, &flow->notice, POST_SEND, 0);
	posts->sends = &posts->one;
	posts->n = 1;
	if (lane->settings.post_list < 2)
		return;
	post_list_link(&flow->list, operation);
	posts->sends = flow->list.sends;
	posts->n = lane->settings.post_list;
}

/* Polls once for every post that is answered, and once for every signaled one. */
static ALWAYS_INLINE void drive_latency(struct bed *bed, uint64_t messages, unsigned int every,
					const struct calls_kind kind)
{
	struct flow *flow = &bed->lane.flows[0];
	struct ibv_recv_wr receive = receive_of(flow);
	unsigned int until_signal = every;
	struct calls_posts posts;

	make_posts(&posts, &bed->lane, kind.operation);
	for (uint64_t i = 0; i < messages; i++) {
		unsigned int flags = 0;
		struct ibv_recv_wr *bad;
		struct ibv_wc wc;

		if (!--until_signal) {
			until_signal = every;
			flags = IBV_SEND_SIGNALED;
			ibv_poll_cq(&bed->instant.cq, 1, &wc);
		}
		post(flow, &posts, kind, flags);
		if (!kind.is_answered)
			continue;
		ibv_poll_cq(&bed->instant.cq, 1, &wc);
		ibv_post_recv(flow->queue.qp, &receive, &bad);
	}
}

/* Posts the messages that share one completion. */
static ALWAYS_INLINE void post_round(struct lane *lane, struct calls_posts *posts,
				     const struct calls_kind kind)
{
	for (unsigned int i = posts->n; i < lane->settings.signal_every; i += posts->n)
		post(&lane->flows[0], posts, kind, 0);
	post(&lane->flows[0], posts, kind, IBV_SEND_SIGNALED);
}

/* Posts per_poll messages between two polls. */
static ALWAYS_INLINE void drive_stream(struct bed *bed, uint64_t messages, uint64_t per_poll,
				       const struct calls_kind kind)
{
	struct lane *lane = &bed->lane;
	struct calls_posts posts;
	struct ibv_wc wc[STREAM_BATCH];

	make_posts(&posts, lane, kind.operation);
	for (uint64_t i = 0; i < messages; i += per_poll) {
		for (uint64_t j = 0; j < per_poll; j += lane->settings.signal_every)
			post_round(lane, &posts, kind);
		ibv_poll_cq(&bed->instant.cq, STREAM_BATCH, wc);
	}
}

/* Each post is answered by a message, whose receive is reposted. Polls are full until the end. */
static ALWAYS_INLINE void drive_both(struct bed *bed, uint64_t messages,
				     const struct calls_kind kind)
{
	struct lane *lane = &bed->lane;
	struct flow *flow = &lane->flows[0];
	struct calls_posts posts;
	uint64_t posted = 0;

	make_posts(&posts, lane, kind.operation);
	make_returns(flow);
	while (posted < messages || bed->instant.made != bed->instant.taken) {
		struct ibv_wc wc[STREAM_BATCH];
		int got;

		if (posted < messages && bed->instant.made - bed->instant.taken < STREAM_BATCH) {
			post_round(lane, &posts, kind);
			posted += lane->settings.signal_every;
		}
		got = ibv_poll_cq(&bed->instant.cq, STREAM_BATCH, wc);
		for (int i = 0; i < got; i++)
			if (wc[i].wr_id & LANE_RECEIVE)
				return_receive(flow);
	}
}

/* Returns how many posts of a latency loop share one completion. */
static unsigned int latency_every(const struct bed *bed)
{
	const struct operation *op = &operations[bed->settings.op];

	return operation_kind(op, &bed->parameters) == RESULT_HALF ? bed->lane.settings.signal_every
								   : 1;
}

static ALWAYS_INLINE void drive(struct bed *bed, uint64_t messages, const struct calls_kind kind)
{
	const struct lane *lane = &bed->lane;
	uint64_t full = (uint64_t)lane->settings.tx_depth * lane->settings.n_flows;
	uint64_t most = (uint64_t)lane->settings.signal_every * STREAM_BATCH;

	if (bed->settings.metric == METRIC_LAT)
		drive_latency(bed, messages, latency_every(bed), kind);
	else if (bed->settings.is_both)
		drive_both(bed, messages, kind);
	else
		drive_stream(bed, messages, full < most ? full : most, kind);
}

/* Returns the posted operation of the row's messages. */
static enum post_operation post_of(const struct bed_settings *settings)
{
	static const enum post_operation posts[OPERATIONS] = {
		[OPERATION_SEND] = POST_SEND,
		[OPERATION_WRITE] = POST_WRITE,
		[OPERATION_READ] = POST_READ,
		[OPERATION_WRITE_IMM] = POST_WRITE_IMM,
		[OPERATION_FETCH_ADD] = POST_FETCH_ADD,
		[OPERATION_COMPARE_SWAP] = POST_COMPARE_SWAP,
		[OPERATION_WRITE_NOTIFY] = POST_WRITE,
		[OPERATION_READ_NOTIFY] = POST_READ,
	};

	return posts[settings->op];
}

static ALWAYS_INLINE void drive_path(struct bed *bed, uint64_t messages, enum post_path path)
{
	bool is_notified = operations[bed->settings.op].shape.is_notified;

	switch ((int)post_of(&bed->settings)) {
	case POST_SEND:
		if (transports[bed->settings.transport].route == ROUTE_ADDRESS)
			return drive(bed, messages,
				     (struct calls_kind){.operation = POST_SEND,
							 .path = path,
							 .is_answered = true,
							 .route = ROUTE_ADDRESS});
		return drive(bed, messages,
			     (struct calls_kind){
				     .operation = POST_SEND, .path = path, .is_answered = true});
	case POST_WRITE_IMM:
		return drive(bed, messages,
			     (struct calls_kind){.operation = POST_WRITE_IMM,
						 .path = path,
						 .is_answered = true});
	case POST_FETCH_ADD:
		return drive(bed, messages,
			     (struct calls_kind){.operation = POST_FETCH_ADD, .path = path});
	case POST_COMPARE_SWAP:
		return drive(bed, messages,
			     (struct calls_kind){.operation = POST_COMPARE_SWAP, .path = path});
	case POST_WRITE:
		if (is_notified)
			return drive(bed, messages,
				     (struct calls_kind){.operation = POST_WRITE,
							 .path = path,
							 .is_answered = true,
							 .is_notified = true});
		return drive(bed, messages,
			     (struct calls_kind){.operation = POST_WRITE, .path = path});
	case POST_READ:
		if (is_notified)
			return drive(bed, messages,
				     (struct calls_kind){.operation = POST_READ,
							 .path = path,
							 .is_answered = true,
							 .is_notified = true});
		return drive(bed, messages,
			     (struct calls_kind){.operation = POST_READ, .path = path});
	default:
		break;
	}
}

void calls_drive(struct bed *bed, uint64_t messages)
{
	if (bed->settings.path == POST_CLASSIC)
		drive_path(bed, messages, POST_CLASSIC);
	else if (bed->settings.path == POST_EXTENDED)
		drive_path(bed, messages, POST_EXTENDED);
	else
		drive_path(bed, messages, POST_EXTENDED_INLINE);
}

void calls_sink(struct bed *bed, uint64_t messages)
{
	struct flow *flow = &bed->lane.flows[0];
	struct ibv_wc wc[SINK_BATCH];

	make_returns(flow);
	instant_supply(&bed->instant, messages);
	for (uint64_t i = 0; i < messages; i += SINK_BATCH) {
		int got = ibv_poll_cq(&bed->instant.cq, SINK_BATCH, wc);

		for (int j = 0; j < got; j++)
			return_receive(flow);
	}
}
