/* SPDX-License-Identifier: MIT */
#include "bench/lane.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/limits.h"
#include "core/pair.h"
#include "core/settings.h"
#include "core/verbs.h"

/* Areas begin on pages of their own. */
#define AREA 4096
/* And slots within them as datagrams would like it. */
#define SLOT 64

/* A client or a message that does not come is the control connection's affair. */
#define CLIENT_MS 10000

/* A completion takes no longer than this: on a link of 100 Mb/s, say. */
#define STALLED_NS          (5 * NS_PER_S)
#define SLOWEST_NS_PER_BYTE 80
/* An answer by a transport that may lose it is given up sooner. */
#define LOST_NS (200 * NS_PER_MS)
/* Where so many in a row are lost, all are. */
#define LOST_MAX 10

/* Room for a notification, and for what a datagram has in front. */
#define LEAST_RECEIVE 64

static size_t round_up(size_t size, size_t unit)
{
	return (size + unit - 1) / unit * unit;
}

/* A message that is looked at may not be overwritten before, nor one that is under way. */
static void make_slots(struct lane *lane)
{
	const struct parameters *p = lane->parameters;
	bool is_slotted = p->verify && p->metric == METRIC_BW;
	bool is_read = lane->shape->is_read;
	size_t size = p->size + POST_GRH;

	lane->stride = round_up(size < LEAST_RECEIVE ? LEAST_RECEIVE : size, SLOT);
	lane->sent_slots = is_slotted && !is_read ? lane->depth : 1;
	lane->received_slots = 1;
	if (is_slotted)
		lane->received_slots = is_read ? lane->depth : (uint32_t)p->rx_depth;
}

static size_t area(const struct lane *lane, uint32_t n_slots)
{
	return round_up(lane->stride * n_slots, AREA);
}

/* Both areas of a queue pair, and its notifications. */
static size_t flow_size(const struct lane *lane)
{
	return area(lane, lane->sent_slots) + area(lane, lane->received_slots) + AREA;
}

/*
 * Of each queue pair. One at a time the next signalled post is due before the one before
 * is taken; and a notification is a post of its own.
 */
static uint64_t send_depth(const struct lane *lane)
{
	const struct parameters *p = lane->parameters;
	uint64_t depth = p->tx_depth;

	if (p->metric == METRIC_LAT && depth < 2 * p->cq_mod)
		depth = 2 * p->cq_mod;
	return lane->shape->is_notified ? 2 * depth : depth;
}

static struct ground_settings ground_settings(const struct lane *lane, enum rdma_wait_mode cq)
{
	const struct parameters *p = lane->parameters;
	uint64_t depth = send_depth(lane) + (p->use_srq ? 0 : p->rx_depth);

	return (struct ground_settings){
		.buffer_size = flow_size(lane) * lane->n_flows,
		.huge_pages = p->hugepages,
		.cq_depth = (uint32_t)(depth * lane->n_flows + (p->use_srq ? p->rx_depth : 0)),
		.wait = cq,
		.srq_depth = p->use_srq ? (uint32_t)p->rx_depth : 0,
	};
}

/* Both ends go by the case's id: what is at its default, or chosen, is in it or not alike. */
static void begin_verify(struct lane *lane, bool is_server)
{
	char id[128];

	parameters_id(lane->parameters, id, sizeof(id));
	verify_init(&lane->verify, lane->parameters->verify, id, is_server, 0);
	lane->verify.is_lossy = lane_is_lossy(lane);
	lane->verify.is_fixed = lane->shape->is_read;
	for (unsigned int i = 0; i < lane->n_flows; i++) {
		struct slots *slots = &lane->flows[i].slots;

		verify_init(&slots->sent, lane->parameters->verify, id, is_server, i);
		slots->sent.is_lossy = lane->verify.is_lossy;
		slots->sent.is_fixed = lane->verify.is_fixed;
		slots->sent.length = lane->parameters->size;
		slots->received = slots->sent;
	}
}

static struct placement_wish placement_wish(const struct lane *lane, const char *device,
					    bool is_server)
{
	const struct parameters *p = lane->parameters;

	return (struct placement_wish){
		.root = "",
		.whose = is_server ? "server-" : "",
		.device_node = device_numa_node(device),
		.pin = is_server ? p->server_pin : p->pin,
		.numa = is_server ? p->server_numa : p->numa,
	};
}

/* The thread moves first: what it touches first is near it. */
static int build(struct lane *lane, const char *device, bool is_server, struct error *error)
{
	const struct parameters *p = lane->parameters;
	const struct placement_wish wish = placement_wish(lane, device, is_server);
	struct ground_settings settings =
		ground_settings(lane, (enum rdma_wait_mode)(is_server ? p->server_cq : p->cq));
	struct placement *placement = &lane->placement;
	int code = device_open(&lane->device, device, error);

	if (!code)
		code = placement_node(&wish, &settings.numa_node, error);
	if (!code)
		code = placement_open(placement, &wish, error);
	if (!code)
		code = ground_open(&lane->ground, lane->device.verbs, &settings, error);
	if (!code && lane->shape->is_atomic)
		code = limits_operation(lane->transport, POST_FETCH_ADD, &lane->ground.device,
					error);
	return code ? code : placement_check(placement, &wish, &lane->ground.buffer, error);
}

/* Until the next completion there is: of a stream that of all that it stands for. */
static uint64_t stalled_ns(const struct lane *lane)
{
	const struct parameters *p = lane->parameters;
	uint64_t each_ns = p->think_ns + p->size * SLOWEST_NS_PER_BYTE;

	if (p->metric == METRIC_BW)
		return STALLED_NS + p->cq_mod * p->qps * each_ns;
	return (lane_is_lossy(lane) ? LOST_NS : STALLED_NS) + each_ns;
}

int lane_open(struct lane *lane, const char *device, const struct parameters *parameters,
	      const struct lane_shape *shape, bool is_server, struct error *error)
{
	int code;

	*lane = (struct lane){
		.parameters = parameters,
		.shape = shape,
		.is_server = is_server,
		.transport = (enum transport)parameters->transport,
		.depth = (uint32_t)parameters->tx_depth,
		.batch = (unsigned int)parameters->post_list,
		.signal_every = (unsigned int)parameters->cq_mod,
		.n_flows = (unsigned int)parameters->qps,
		.flows = calloc(parameters->qps, sizeof(*lane->flows)),
	};
	lane->stalled_ns = stalled_ns(lane);
	make_slots(lane);
	if (!lane->flows)
		return error_set_errno(error, -ENOMEM, "cannot make queue pairs");
	code = build(lane, device, is_server, error);
	lane->completion = &lane->ground.completion;
	begin_verify(lane, is_server);
	if (code)
		lane_close(lane);
	return code;
}

static void close_contexts(struct lane *lane)
{
	for (unsigned int i = 0; i < lane->n_flows && lane->flows; i++) {
		rdma_close(&lane->flows[i].context);
		post_list_close(&lane->flows[i].list);
		free(lane->flows[i].ticks);
		lane->flows[i].ticks = NULL;
	}
}

void lane_close(struct lane *lane)
{
	close_contexts(lane);
	ground_close(&lane->ground);
	device_close(&lane->device);
	placement_close(&lane->placement);
	free(lane->flows);
	*lane = (struct lane){0};
}

struct rdma_settings lane_settings(const struct lane *lane)
{
	const struct parameters *p = lane->parameters;
	uint64_t inline_size = p->inline_size;

	return (struct rdma_settings){
		.send_depth = (uint32_t)send_depth(lane),
		.recv_depth = (uint32_t)p->rx_depth,
		.max_inline = inline_size == PARAMETER_AUTO ? 0
			      : inline_size                 ? (uint32_t)inline_size
							    : RDMA_NO_INLINE,
		.idle_timeout_ms = CLIENT_MS,
		.max_message = p->size,
		.outstanding_reads = p->outstanding == PARAMETER_AUTO ? 0 : (uint8_t)p->outstanding,
		/* A stream may well be faster than its receiver: it waits, where there is one. */
		.rnr_retry = p->metric == METRIC_BW && p->receives == RECEIVES_BUFFERS ? 7 : 0,
		.ack_timeout = (uint8_t)p->timeout,
		.retry_count = p->retries ? (uint8_t)p->retries : RDMA_NONE,
		.own_receives = true,
	};
}

struct limits lane_limits(const struct parameters *parameters, const struct lane_shape *shape)
{
	bool has_reads = shape->is_read || shape->is_atomic;
	struct lane lane = {
		.parameters = parameters,
		.shape = shape,
		.depth = (uint32_t)parameters->tx_depth,
		.n_flows = (unsigned int)parameters->qps,
	};
	struct ground_settings ground;
	struct rdma_settings settings;

	make_slots(&lane);
	ground = ground_settings(&lane, RDMA_POLL);
	settings = lane_settings(&lane);
	return (struct limits){
		.transport = (enum transport)parameters->transport,
		.send_depth = settings_send_depth(&settings),
		.recv_depth = ground.srq_depth ? 0 : settings_recv_depth(&settings),
		.srq_depth = ground.srq_depth,
		.cq_depth = ground.cq_depth,
		.sge = settings_sges(&settings),
		.queue_pairs = lane.n_flows,
		.memory_bytes = ground.buffer_size,
		/* Who leaves it to the device needs one. */
		.reads = settings.outstanding_reads ? settings.outstanding_reads : has_reads,
		.message_bytes = settings.max_message,
		.mtu = parameters->mtu == PARAMETER_AUTO
			       ? 0
			       : limits_mtu((unsigned int)parameters->mtu),
	};
}

int lane_failed(const struct flow *flow, struct error *error)
{
	return error_set(error, flow->context.code ? flow->context.code : -EIO, "%s",
			 flow->context.reason);
}

int lane_post_failed(int code, struct error *error)
{
	return error_set_errno(error, verbs_result(code), "cannot post");
}

int lane_completion_failed(const struct ibv_wc *wc, struct error *error)
{
	return verbs_completion_error(error, wc->wr_id & LANE_RECEIVE ? "receive" : "post", wc);
}

/* The part of a flow's buffer: it sends from the first, and receives into the second. */
static size_t sending(const struct lane *lane, const struct flow *flow)
{
	return flow->number * flow_size(lane);
}

static size_t receiving(const struct lane *lane, const struct flow *flow)
{
	return sending(lane, flow) + area(lane, lane->sent_slots);
}

/* Behind both: the notification that is sent, and the one that is received. */
static size_t notices(const struct lane *lane, const struct flow *flow)
{
	return receiving(lane, flow) + area(lane, lane->received_slots);
}

static struct ibv_sge piece(const struct lane *lane, size_t offset, size_t length)
{
	return (struct ibv_sge){.addr = (uintptr_t)lane->ground.buffer.address + offset,
				.length = (uint32_t)length,
				.lkey = lane->ground.mr->lkey};
}

static uint64_t receive_id(const struct lane *lane, const struct flow *flow, uint64_t number)
{
	uint64_t slot = lane->shape->is_read ? 0 : number % lane->received_slots;

	return LANE_RECEIVE | slot << LANE_FLOW_BITS | flow->number;
}

/* Before there is a connection: the other end may be the first to write, or to read. */
static void start_slots(const struct lane *lane, struct flow *flow)
{
	struct slots *slots = &flow->slots;
	uint8_t *buffer = (uint8_t *)lane->ground.buffer.address;

	slots->first_sent = buffer + sending(lane, flow);
	slots->first_received = buffer + receiving(lane, flow);
	slots->next_sent = slots->next_received = 0;
	verify_begin(&slots->sent);
	verify_begin(&slots->received);
	slots->sent.sent = slots->first_sent;
	memset(slots->first_received, 0, lane->stride * lane->received_slots);
	if (lane->shape->is_read)
		verify_fill(&slots->sent);
}

int lane_receive(struct lane *lane, struct flow *flow, struct error *error)
{
	uint64_t receives = lane->is_server ? lane->parameters->receives : RECEIVES_BUFFERS;
	uint64_t wanted = receives == RECEIVES_NONE ? 0 : lane->parameters->rx_depth;
	struct ibv_sge place;
	int code = 0;

	flow->number = (uint32_t)(flow - lane->flows);
	place = lane->shape->is_notified
			? piece(lane, notices(lane, flow) + LEAST_RECEIVE, LEAST_RECEIVE)
			: piece(lane, receiving(lane, flow), lane->stride);
	flow->first_receive = place.addr;
	flow->queue = *context_queue(&flow->context);
	flow->receive = (struct post_work){
		.n_sges = receives == RECEIVES_BARE ? 0 : 1,
		.sges = {place},
	};
	if (lane->parameters->verify && lane->parameters->metric == METRIC_BW)
		start_slots(lane, flow);
	/* One queue for all of them is filled once. */
	if (flow->queue.srq && flow->number)
		wanted = 0;
	for (uint64_t i = 0; i < wanted && !code; i++)
		code = lane_post_receive(lane, flow, receive_id(lane, flow, i));
	return code ? lane_post_failed(code, error) : 0;
}

static void make_work(const struct lane *lane, struct flow *flow)
{
	const struct lane_shape *shape = lane->shape;
	const struct rdma_context *context = &flow->context;
	size_t size = lane->parameters->size;
	bool is_fetched = shape->is_read || shape->is_atomic;
	size_t local = is_fetched ? receiving(lane, flow) : sending(lane, flow);
	/* A read fetches what the other end would send; the rest goes where it receives. */
	size_t remote = shape->is_read ? sending(lane, flow) : receiving(lane, flow);

	flow->work = (struct post_work){
		.id = flow->number, .n_sges = 1, .sges = {piece(lane, local, size)}, .add = 1};
	pair_aim(context, &flow->work);
	flow->work.remote = context->remote.address + remote;
	if (!is_fetched && size <= context->max_inline)
		flow->work.flags = IBV_SEND_INLINE;
}

/* What the notification says, behind the areas. */
static void make_notice(const struct lane *lane, struct flow *flow)
{
	const struct lane_shape *shape = lane->shape;
	size_t offset = notices(lane, flow);
	const struct rdma_message message = {
		.kind = shape->is_read ? RDMA_MESSAGE_READ : RDMA_MESSAGE_WRITTEN,
		.length = lane->parameters->size,
		.offset = flow->work.remote - flow->context.remote.address,
	};

	message_encode((uint8_t *)lane->ground.buffer.address + offset, &message);
	flow->notice = (struct post_work){
		.id = flow->number, .n_sges = 1, .sges = {piece(lane, offset, MESSAGE_HEAD)}};
	/* Not before the data are here; a write is in order anyway. */
	if (shape->is_read)
		flow->notice.flags = IBV_SEND_FENCE;
	/* Both go the same way: a path is a constant of the loop. */
	if (flow->work.flags & IBV_SEND_INLINE && MESSAGE_HEAD <= flow->context.max_inline)
		flow->notice.flags |= IBV_SEND_INLINE;
	else
		flow->work.flags &= ~(unsigned int)IBV_SEND_INLINE;
}

static int make_ticks(struct lane *lane, struct flow *flow, struct error *error)
{
	free(flow->ticks);
	flow->ticks =
		lane->parameters->latencies ? calloc(lane->depth, sizeof(*flow->ticks)) : NULL;
	flow->first_tick = flow->next_tick = 0;
	if (lane->parameters->latencies && !flow->ticks)
		return error_set_errno(error, -ENOMEM, "cannot time messages");
	return 0;
}

static int make_list(struct lane *lane, struct flow *flow, struct error *error)
{
	int code;

	post_list_close(&flow->list);
	if (lane->batch < 2)
		return 0;
	code = post_list_open(&flow->list, lane->batch, error);
	for (unsigned int i = 0; i < flow->list.n && !code; i++)
		flow->list.works[i] = flow->work;
	return code;
}

/* What is only read is filled once. */
static void start_verify(struct lane *lane)
{
	struct verify *verify = &lane->verify;

	verify_begin(verify);
	verify->length = lane->parameters->size;
	verify->sent = (uint8_t *)lane->ground.buffer.address;
	verify->received = verify->sent + receiving(lane, &lane->flows[0]);
	if (lane->transport == TRANSPORT_UD)
		verify->received += POST_GRH;
	if (verify->every && lane->shape->is_read) {
		verify_fill(verify);
		memset((void *)(uintptr_t)verify->received, 0, verify->length);
	}
}

int lane_start(struct lane *lane, struct error *error)
{
	int code = 0;

	for (unsigned int i = 0; i < lane->n_flows && !code; i++) {
		struct flow *flow = &lane->flows[i];

		flow->room = lane->depth;
		flow->silent = 0;
		make_work(lane, flow);
		if (lane->shape->is_notified)
			make_notice(lane, flow);
		code = make_ticks(lane, flow, error);
		if (!code)
			code = make_list(lane, flow, error);
	}
	lane->last_sent = (uint8_t *)lane->ground.buffer.address + lane->parameters->size - 1;
	lane->last_received = lane->last_sent + receiving(lane, &lane->flows[0]);
	/* A stream has slots of its own, and one that goes both ways may have begun over there. */
	if (lane->parameters->metric == METRIC_LAT) {
		*lane->last_sent = *(uint8_t *)(uintptr_t)lane->last_received = 0;
		start_verify(lane);
	}
	lane->until_signal = lane->signal_every;
	lane->is_signal_out = false;
	lane->posted = lane->messages = lane->received = lane->lost = lane->completions = 0;
	lane->lost_in_a_row = 0;
	lane->left = 0;
	lane->path = post_choose(&lane->flows[0].queue, &lane->flows[0].work);
	return code;
}

int lane_stop(struct lane *lane, struct error *error)
{
	close_contexts(lane);
	return ground_reset(&lane->ground, error);
}

void lane_share_out(struct lane *lane, uint64_t messages)
{
	for (unsigned int i = 0; i < lane->n_flows; i++) {
		struct flow *flow = &lane->flows[i];

		flow->left = messages;
		if (messages != UINT64_MAX)
			flow->left = messages / lane->n_flows + (i < messages % lane->n_flows);
	}
}

void lane_compute(uint64_t ns)
{
	uint64_t end = clock_now_ns() + ns;

	while (clock_now_ns() < end)
		continue;
}

int lane_settle(struct lane *lane, struct error *error)
{
	while (lane->is_signal_out) {
		bool is_message;
		struct ibv_wc wc;
		int code = completion_wait(lane->completion, 1, &wc, lane->stalled_ns, error);

		if (code == -ETIMEDOUT)
			return lane_stalled(lane, error);
		if (code >= 0)
			code = lane_take(lane, &wc, &is_message, error);
		if (code)
			return code;
	}
	return 0;
}

int lane_stalled(const struct lane *lane, struct error *error)
{
	return error_set(error, -ETIMEDOUT,
			 "nothing has come for %.3g s, while the other end is alive",
			 (double)lane->stalled_ns / (double)NS_PER_S);
}

int lane_missed(struct lane *lane, uint64_t number, int code, struct error *error)
{
	if (code != -ETIMEDOUT)
		return code;
	if (!lane_is_lossy(lane))
		return lane_stalled(lane, error);
	lane->lost++;
	lane->lost_in_a_row = number == lane->lost_at ? lane->lost_in_a_row + 1 : 1;
	lane->lost_at = number;
	if (lane->lost_in_a_row < LOST_MAX)
		return 0;
	return error_set(error, -ETIMEDOUT,
			 "%u messages in a row were lost: on RC they would be sent again",
			 lane->lost_in_a_row);
}
