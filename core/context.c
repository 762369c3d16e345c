/* SPDX-License-Identifier: MIT */
#include "core/context.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/address.h"
#include "core/device.h"
#include "core/guard.h"
#include "core/limits.h"
#include "core/verbs.h"

#define DEFAULT_BUFFER     4096
#define DEFAULT_TIMEOUT_MS 5000
#define DEFAULT_DEPTH      16
#define DEFAULT_INLINE     256
#define DEFAULT_READS      16
#define DEFAULT_RETRIES    6
#define DEFAULT_SPIN_US    50
#define RETRY_FOR_EVER     7
#define DEFAULT_TIMEOUT    14
#define DEFAULT_RNR_TIMER  12

unsigned int context_timeout_ms(const struct rdma_context *ctx)
{
	return ctx->settings.timeout_ms ? ctx->settings.timeout_ms : DEFAULT_TIMEOUT_MS;
}

static uint32_t send_depth(const struct rdma_context *ctx)
{
	/* An operation and a probe may be under way at once. */
	return ctx->settings.send_depth > 1 ? ctx->settings.send_depth
	       : ctx->settings.send_depth   ? 2
					    : DEFAULT_DEPTH;
}

static uint32_t recv_depth(const struct rdma_context *ctx)
{
	return ctx->settings.recv_depth ? ctx->settings.recv_depth : DEFAULT_DEPTH;
}

static uint32_t sges(const struct rdma_context *ctx)
{
	return ctx->settings.max_sge > POST_SGES ? ctx->settings.max_sge : POST_SGES;
}

uint8_t context_reads(const struct rdma_context *ctx)
{
	int device = ctx->state->device.max_qp_rd_atom < ctx->state->device.max_qp_init_rd_atom
			     ? ctx->state->device.max_qp_rd_atom
			     : ctx->state->device.max_qp_init_rd_atom;

	if (ctx->settings.outstanding_reads)
		return ctx->settings.outstanding_reads;
	return device < 1 ? 0 : device < DEFAULT_READS ? (uint8_t)device : DEFAULT_READS;
}

static uint8_t retries(uint8_t setting, uint8_t otherwise)
{
	return setting == RDMA_NONE ? 0 : setting ? setting : otherwise;
}

uint8_t context_rnr_retry(const struct rdma_context *ctx)
{
	return retries(ctx->settings.rnr_retry,
		       ctx->settings.own_receives ? DEFAULT_RETRIES : RETRY_FOR_EVER);
}

uint8_t context_retry_count(const struct rdma_context *ctx)
{
	return retries(ctx->settings.retry_count, DEFAULT_RETRIES);
}

int context_begin(struct rdma_context *ctx, struct error *error)
{
	int code;

	if (ctx->state)
		return error_set(error, -EBUSY, "this context is set up already; close it first");
	if (ctx->cq_notify < RDMA_POLL || ctx->cq_notify > RDMA_ADAPTIVE)
		return error_set(error, -EINVAL,
				 "cq_notify %d is none of 0 (poll), 1 (event), 2 (adaptive)",
				 ctx->cq_notify);
	if (context_timeout_ms(ctx) > INT_MAX)
		return error_set(error, -EINVAL, "timeout_ms %u exceeds the limit %d",
				 context_timeout_ms(ctx), INT_MAX);
	ctx->reason[0] = '\0';
	ctx->state = calloc(1, sizeof(*ctx->state));
	if (!ctx->state)
		return error_set_errno(error, -ENOMEM, "cannot set up a context");
	code = alarm_open(&ctx->state->alarm, error);
	if (code) {
		free(ctx->state);
		ctx->state = NULL;
	}
	return code;
}

static const char *step_name(enum rdma_cm_event_type wanted)
{
	return wanted == RDMA_CM_EVENT_ADDR_RESOLVED    ? "cannot resolve the address: "
	       : wanted == RDMA_CM_EVENT_ROUTE_RESOLVED ? "cannot resolve the route: "
							: "";
}

int context_check_device(const struct rdma_cm_id *id, const char *ib_dev, struct error *error)
{
	struct sockaddr_storage address;
	const char *found;

	if (!ib_dev || !id->verbs || address_parse(&address, ib_dev))
		return 0;
	found = ibv_get_device_name(id->verbs->device);
	if (!strcmp(found, ib_dev))
		return 0;
	return error_set(error, -ENODEV, "the address of device %s leads to device %s", ib_dev,
			 found);
}

int context_expect(struct rdma_context *ctx, struct rdma_event_channel *channel,
		   enum rdma_cm_event_type wanted, unsigned int timeout_ms, struct error *error)
{
	uint64_t deadline = clock_deadline(timeout_ms);
	struct cm_event *event = &ctx->state->event;
	int code;

	/* With bonding an address may change while a connection is being made. */
	do {
		code = cm_wait(channel, event, deadline, &ctx->state->alarm, error);
	} while (!code && event->event.event == RDMA_CM_EVENT_ADDR_CHANGE);
	if (code == -ETIMEDOUT)
		return error_set(error, code, "%sno answer within %u ms", step_name(wanted),
				 timeout_ms);
	if (code)
		return code;
	ctx->event = &event->event;
	return event->event.event == wanted ? 0 : cm_unexpected(event, error);
}

static int query(struct rdma_context *ctx, struct error *error)
{
	const struct limits wanted = {
		.send_depth = send_depth(ctx),
		.recv_depth = recv_depth(ctx),
		.sge = sges(ctx),
		.reads = ctx->settings.outstanding_reads,
		.message_bytes = ctx->settings.max_message,
		.ack_timeout = ctx->settings.ack_timeout,
		.retries = context_retry_count(ctx),
		.rnr_retries = context_rnr_retry(ctx),
		.rnr_timer = ctx->settings.min_rnr_timer,
	};
	struct rdma_state *state = ctx->state;
	int code = verbs_result(ibv_query_device(ctx->conn->verbs, &state->device));

	if (code)
		return error_set_errno(error, code, "cannot query the device");
	code = verbs_result(ibv_query_port(ctx->conn->verbs, ctx->conn->port_num, &state->port));
	if (code)
		return error_set_errno(error, code, "cannot query port %u", ctx->conn->port_num);
	return limits_check(&wanted, &state->device, &state->port, error);
}

static struct ibv_qp_cap capabilities(const struct rdma_context *ctx)
{
	return (struct ibv_qp_cap){
		.max_send_wr = send_depth(ctx),
		.max_recv_wr = recv_depth(ctx),
		.max_send_sge = sges(ctx),
		.max_recv_sge = sges(ctx),
		.max_inline_data = ctx->max_inline,
	};
}

/* Finds how much goes inline: as asked, or not at all; unasked, what there is. */
static int choose_inline(struct rdma_context *ctx, struct error *error)
{
	uint32_t asked = ctx->settings.max_inline;
	struct ibv_qp_cap cap = capabilities(ctx);

	if (asked == RDMA_NO_INLINE) {
		ctx->max_inline = 0;
		return 0;
	}
	cap.max_inline_data = asked ? asked : DEFAULT_INLINE;
	ctx->max_inline = limits_inline(ctx->pd, &cap);
	if (ctx->max_inline < asked)
		return error_set(error, -EINVAL, "inline size %u exceeds the device's limit %u",
				 asked, ctx->max_inline);
	return 0;
}

static int create_qp(struct rdma_context *ctx, struct error *error)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = ctx->cq,
		.recv_cq = ctx->cq,
		.qp_type = IBV_QPT_RC,
		.cap = capabilities(ctx),
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = ctx->pd,
		.send_ops_flags =
			IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ,
	};
	int code = verbs_result(rdma_create_qp_ex(ctx->conn, &attr));

	/* Providers without the extended interface say so in several ways. */
	if (code == -EOPNOTSUPP || code == -ENOSYS || code == -EINVAL) {
		attr.comp_mask = IBV_QP_INIT_ATTR_PD;
		code = verbs_result(rdma_create_qp_ex(ctx->conn, &attr));
	}
	if (code)
		return verbs_memory_error(error, code, "create a queue pair");
	ctx->qp = ctx->conn->qp;
	ctx->state->queue.qp = ctx->qp;
	if (attr.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		ctx->state->queue.qpx = ibv_qp_to_qp_ex(ctx->qp);
	return 0;
}

static int create_buffer(struct rdma_context *ctx, struct error *error)
{
	const int access =
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
	struct rdma_state *state = ctx->state;
	int node = device_numa_node(ibv_get_device_name(ctx->conn->verbs->device));
	int code;

	if (!ctx->buffer_size)
		ctx->buffer_size = DEFAULT_BUFFER;
	code = buffer_open(&state->buffer, ctx->buffer_size, ctx->settings.huge_pages, node, error);
	if (code)
		return code;
	ctx->buffer = state->buffer.address;
	ctx->mr = verbs_register(ctx->pd, ctx->buffer, ctx->buffer_size, access, error);
	if (!ctx->mr)
		return error->code;
	code = buffer_open(&state->slots, sizeof(struct context_slots), false, node, error);
	if (code)
		return code;
	state->slots_mr =
		verbs_register(ctx->pd, state->slots.address, sizeof(struct context_slots),
			       IBV_ACCESS_LOCAL_WRITE, error);
	return state->slots_mr ? 0 : error->code;
}

int context_build(struct rdma_context *ctx, struct error *error)
{
	struct completion *completion = &ctx->state->completion;
	unsigned int spin_us = ctx->settings.spin_us ? ctx->settings.spin_us : DEFAULT_SPIN_US;
	int code = query(ctx, error);

	if (code)
		return code;
	ctx->pd = ibv_alloc_pd(ctx->conn->verbs);
	if (!ctx->pd)
		return error_set_errno(error, verbs_null(), "cannot allocate a protection domain");
	completion->mode = (enum rdma_wait_mode)ctx->cq_notify;
	completion->spin_ns = spin_us * NS_PER_US;
	code = completion_open(completion, ctx->conn->verbs, send_depth(ctx) + recv_depth(ctx),
			       &ctx->state->alarm, error);
	if (code)
		return code;
	ctx->cq = completion->cq;
	code = choose_inline(ctx, error);
	if (!code)
		code = create_qp(ctx, error);
	if (!code)
		code = create_buffer(ctx, error);
	if (!code)
		code = guard_device(ctx, error);
	if (!code && !ctx->settings.own_receives)
		code = context_prepare(ctx, error);
	return code;
}

struct rdma_remote context_own(const struct rdma_context *ctx)
{
	return (struct rdma_remote){
		.address = (uintptr_t)ctx->buffer, .size = ctx->buffer_size, .rkey = ctx->mr->rkey};
}

void context_mend_timeout(struct rdma_context *ctx)
{
	uint8_t timeout = ctx->settings.ack_timeout ? ctx->settings.ack_timeout : DEFAULT_TIMEOUT;

	/* rdma_cm's own is 19, 2 s a try. Kernels before 5.2 cannot; nor has iWARP one. */
	rdma_set_option(ctx->conn, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout,
			sizeof(timeout));
}

int context_connected(struct rdma_context *ctx, struct rdma_event_channel *channel,
		      struct error *error)
{
	const struct rdma_settings *settings = &ctx->settings;
	struct ibv_qp_attr attr = {.min_rnr_timer = settings->min_rnr_timer
							    ? settings->min_rnr_timer
							    : DEFAULT_RNR_TIMER};
	int code;

	/* rdma_cm leaves it at 0, which is the longest: 655 ms. iWARP has none. */
	code = ctx->conn->verbs->device->transport_type == IBV_TRANSPORT_IWARP
		       ? 0
		       : verbs_result(ibv_modify_qp(ctx->qp, &attr, IBV_QP_MIN_RNR_TIMER));
	if (code)
		alarm_note(&ctx->state->alarm, "the RNR timer could not be set: it is 655 ms");
	code = guard_connection(ctx, channel, error);
	ctx->state->connected = !code;
	return code;
}

int context_prepare(struct rdma_context *ctx, struct error *error)
{
	struct rdma_state *state = ctx->state;
	struct context_slots *slots = (struct context_slots *)(void *)state->slots.address;
	uint64_t longest = state->port.max_msg_sz - MESSAGE_HEAD;
	struct post_work work = {
		.id = CONTEXT_RECEIVE,
		.n_sges = 2,
		.sges = {{.addr = (uintptr_t)slots->received,
			  .length = MESSAGE_HEAD,
			  .lkey = state->slots_mr->lkey},
			 {.addr = (uintptr_t)ctx->buffer,
			  .length = (uint32_t)(ctx->buffer_size < longest ? ctx->buffer_size
									  : longest),
			  .lkey = ctx->mr->lkey}},
	};
	int code;

	if (state->prepared || state->arrived)
		return 0;
	code = verbs_result(post_receive(&state->queue, &work));
	if (code)
		return error_set_errno(error, code, "cannot post a receive");
	state->prepared = true;
	return 0;
}

/* Keeps the first failure of a number of steps that must all be taken. */
static void keep(int *first, int code)
{
	if (code && !*first)
		*first = code;
}

static void deregister(int *first, struct ibv_mr **mr)
{
	if (*mr)
		keep(first, verbs_result(ibv_dereg_mr(*mr)));
	*mr = NULL;
}

int context_drop(struct rdma_context *ctx)
{
	struct rdma_state *state = ctx->state;
	int first = 0;

	if (state->connected)
		rdma_disconnect(ctx->conn); /* fails if the other end was first */
	guard_release(ctx);
	if (ctx->qp)
		rdma_destroy_qp(ctx->conn);
	keep(&first, completion_close(&state->completion));
	deregister(&first, &ctx->mr);
	deregister(&first, &state->slots_mr);
	if (ctx->pd)
		keep(&first, verbs_result(ibv_dealloc_pd(ctx->pd)));
	if (ctx->conn)
		keep(&first, verbs_result(rdma_destroy_id(ctx->conn)));
	if (state->channel)
		rdma_destroy_event_channel(state->channel);
	buffer_close(&state->buffer);
	buffer_close(&state->slots);
	ctx->conn = NULL;
	ctx->pd = NULL;
	ctx->cq = NULL;
	ctx->qp = NULL;
	ctx->buffer = NULL;
	ctx->event = NULL;
	ctx->max_inline = 0;
	ctx->remote = (struct rdma_remote){0};
	ctx->received = ctx->last_write = ctx->last_read = (struct rdma_message){0};
	state->queue = (struct post_queue){0};
	state->channel = NULL;
	state->failed = (struct error){0};
	state->connected = state->prepared = state->arrived = state->probing = false;
	alarm_reset(&state->alarm);
	return first;
}

int context_release(struct rdma_context *ctx)
{
	int first = 0;

	if (!ctx->state)
		return 0;
	keep(&first, context_drop(ctx));
	if (ctx->listener)
		keep(&first, verbs_result(rdma_destroy_id(ctx->listener)));
	if (ctx->ec)
		rdma_destroy_event_channel(ctx->ec);
	ctx->listener = NULL;
	ctx->ec = NULL;
	ctx->port = 0;
	ctx->address[0] = '\0';
	alarm_close(&ctx->state->alarm);
	free(ctx->state);
	ctx->state = NULL;
	return first;
}

int context_end(struct rdma_context *ctx, int code, const struct error *error)
{
	ctx->code = code;
	if (!code)
		return 0;
	snprintf(ctx->reason, sizeof(ctx->reason), "%s", error->text);
	return -1;
}
