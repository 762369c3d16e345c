/* SPDX-License-Identifier: MIT */
#include "bench/micro/calls.h"

#include "bench/loop_sink.h"
#include "bench/loop_stream.h"

/* Constants at the call. */
struct calls_kind {
	enum post_operation operation;
	enum post_path path;
};

static ALWAYS_INLINE void build(struct ibv_qp_ex *qpx, const struct post_work *work,
				const struct calls_kind kind, unsigned int flags)
{
	const struct ibv_sge *sge = &work->sges[0];

	qpx->wr_id = 0;
	qpx->wr_flags = flags;
	if (kind.operation == POST_SEND)
		ibv_wr_send(qpx);
	else if (kind.operation == POST_WRITE)
		ibv_wr_rdma_write(qpx, 0, 0);
	else
		ibv_wr_rdma_read(qpx, 0, 0);
	if (kind.path == POST_EXTENDED_INLINE)
		ibv_wr_set_inline_data(qpx, (void *)(uintptr_t)sge->addr, sge->length);
	else
		ibv_wr_set_sge(qpx, 0, sge->addr, sge->length);
}

/* One message, or a list of them. sends is linked beforehand. */
static ALWAYS_INLINE void post(struct flow *flow, struct ibv_send_wr *sends, unsigned int n,
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

static struct ibv_recv_wr receive_of(struct flow *flow)
{
	return (struct ibv_recv_wr){
		.wr_id = flow->receive.id, .sg_list = flow->receive.sges, .num_sge = 1};
}

static struct ibv_send_wr send_of(struct flow *flow)
{
	return (struct ibv_send_wr){.sg_list = flow->work.sges, .num_sge = 1};
}

/* Every post has its poll if it is answered, and every signalled one has. */
static ALWAYS_INLINE void drive_latency(struct bed *bed, uint64_t messages, unsigned int every,
					bool is_answered, const struct calls_kind kind)
{
	struct flow *flow = &bed->lane.flows[0];
	struct ibv_recv_wr receive = receive_of(flow);
	struct ibv_send_wr send = send_of(flow);
	unsigned int until_signal = every;

	for (uint64_t i = 0; i < messages; i++) {
		unsigned int flags = 0;
		struct ibv_recv_wr *bad;
		struct ibv_wc wc;

		if (!--until_signal) {
			until_signal = every;
			flags = IBV_SEND_SIGNALED;
			ibv_poll_cq(&bed->instant.cq, 1, &wc);
		}
		post(flow, &send, 1, kind, flags);
		if (!is_answered)
			continue;
		ibv_poll_cq(&bed->instant.cq, 1, &wc);
		ibv_post_recv(flow->queue.qp, &receive, &bad);
	}
}

/* per_poll messages between two polls, of which one in every is signalled. */
static ALWAYS_INLINE void drive_stream(struct bed *bed, uint64_t messages, uint64_t per_poll,
				       const struct calls_kind kind)
{
	struct lane *lane = &bed->lane;
	struct flow *flow = &lane->flows[0];
	struct ibv_send_wr send = send_of(flow);
	struct ibv_send_wr *sends = lane->batch > 1 ? flow->list.sends : &send;
	uint64_t posts = lane->signal_every / lane->batch;
	struct ibv_wc wc[STREAM_BATCH];

	if (lane->batch > 1)
		post_list_link(&flow->list, kind.operation);
	for (uint64_t i = 0; i < messages; i += per_poll) {
		for (uint64_t j = 0; j < per_poll; j += lane->signal_every) {
			for (uint64_t k = 1; k < posts; k++)
				post(flow, sends, lane->batch, kind, 0);
			post(flow, sends, lane->batch, kind, IBV_SEND_SIGNALED);
		}
		ibv_poll_cq(&bed->instant.cq, STREAM_BATCH, wc);
	}
}

static ALWAYS_INLINE void drive(struct bed *bed, uint64_t messages, const struct calls_kind kind)
{
	const struct lane *lane = &bed->lane;
	uint64_t full = (uint64_t)lane->depth * lane->n_flows;
	uint64_t most = (uint64_t)lane->signal_every * STREAM_BATCH;

	if (bed->settings.metric == METRIC_BW)
		drive_stream(bed, messages, full < most ? full : most, kind);
	else if (kind.operation == POST_SEND)
		drive_latency(bed, messages, lane->signal_every, true, kind);
	else if (kind.operation == POST_WRITE)
		drive_latency(bed, messages, lane->signal_every, false, kind);
	else
		drive_latency(bed, messages, 1, false, kind);
}

static ALWAYS_INLINE void drive_path(struct bed *bed, uint64_t messages, enum post_path path)
{
	if (bed->settings.op == &op_send)
		drive(bed, messages, (struct calls_kind){POST_SEND, path});
	else if (bed->settings.op == &op_write)
		drive(bed, messages, (struct calls_kind){POST_WRITE, path});
	else
		drive(bed, messages, (struct calls_kind){POST_READ, path});
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
	struct ibv_recv_wr receive = receive_of(flow);
	struct ibv_recv_wr *bad;
	struct ibv_wc wc[SINK_BATCH];

	instant_supply(&bed->instant, messages);
	for (uint64_t i = 0; i < messages; i += SINK_BATCH) {
		int got = ibv_poll_cq(&bed->instant.cq, SINK_BATCH, wc);

		for (int j = 0; j < got; j++)
			ibv_post_recv(flow->queue.qp, &receive, &bad);
	}
}
