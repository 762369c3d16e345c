/* SPDX-License-Identifier: MIT */
#include "core/rdma/context.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/address.h"
#include "core/rdma/guard.h"
#include "core/rdma/qp.h"
#include "core/rdma/settings.h"
#include "core/verbs/device.h"
#include "core/verbs/limits.h"
#include "core/verbs/verbs.h"

struct completion *context_completion(const struct rdma_context *ctx)
{
	return &ctx->state->endpoint->completion;
}

const struct post_queue *context_queue(const struct rdma_context *ctx)
{
	return &ctx->state->queue;
}

struct alarm *context_alarm(const struct rdma_context *ctx)
{
	return &ctx->state->endpoint->alarm;
}

bool context_is_fresh(const struct rdma_context *ctx)
{
	return !ctx->state || !ctx->state->begun;
}

bool context_borrows(const struct rdma_context *ctx)
{
	return ctx->state->endpoint != &ctx->state->own;
}

static int make_state(struct rdma_context *ctx, struct error *error)
{
	ctx->state = calloc(1, sizeof(*ctx->state));
	if (!ctx->state)
		return error_set_errno(error, -ENOMEM, "cannot set up a context");
	ctx->state->endpoint = &ctx->state->own;
	return 0;
}

static int busy(struct error *error)
{
	return error_set(error, -EBUSY, "this context is set up already; close it first");
}

int context_use(struct rdma_context *ctx, struct endpoint *endpoint, struct error *error)
{
	int code;

	if (ctx->state)
		return busy(error);
	if (!endpoint->pd)
		return error_set(error, -EINVAL, "the endpoint for this context is not open");
	if (!ctx->settings.own_receives)
		return error_set(error, -EINVAL,
				 "a context on a shared endpoint must post its own receives; "
				 "set own_receives");
	code = make_state(ctx, error);
	if (code)
		return code;
	ctx->state->endpoint = endpoint;
	ctx->buffer_size = endpoint->buffer_size;
	ctx->cq_notify = (int)endpoint->completion.mode;
	endpoint->n_contexts++;
	return 0;
}

void context_set_region(struct rdma_context *ctx, struct ibv_mr *region)
{
	ctx->state->region = region;
}

void context_set_ticket(struct rdma_context *ctx, const uint8_t ticket[static PRIVATE_DATA_TICKET])
{
	memcpy(ctx->state->ticket, ticket, PRIVATE_DATA_TICKET);
	ctx->state->has_ticket = true;
}

void context_set_permits(struct rdma_context *ctx, context_permits *permits, const void *owner)
{
	ctx->state->permits = permits;
	ctx->state->owner = owner;
}

int context_check_client(const struct rdma_context *ctx, struct rdma_cm_id *id, struct error *error)
{
	const struct rdma_state *state = ctx->state;
	const struct sockaddr *client = rdma_get_peer_addr(id);
	char text[ADDRESS_TEXT];

	if (!state->permits || state->permits(state->owner, client))
		return 0;
	return error_set(error, -EACCES,
			 "clients from %s are not allowed; add their network to 'serve --allow' "
			 "on the server",
			 address_text_bare(client, text));
}

int context_begin(struct rdma_context *ctx, struct error *error)
{
	int code;

	if (!context_is_fresh(ctx))
		return busy(error);
	if (ctx->cq_notify < RDMA_POLL || ctx->cq_notify > RDMA_ADAPTIVE)
		return error_set(error, -EINVAL,
				 "invalid cq_notify %d; use 0 (poll), 1 (event) or 2 (adaptive)",
				 ctx->cq_notify);
	if (!settings_are_known(&ctx->settings))
		return error_set(error, -EINVAL,
				 "settings.reserved is not 0: zero the context, or use the library "
				 "that belongs to its header");
	if (settings_timeout_ms(&ctx->settings) > INT_MAX)
		return error_set(error, -EINVAL, "timeout_ms %u exceeds the limit %d",
				 settings_timeout_ms(&ctx->settings), INT_MAX);
	ctx->reason[0] = '\0';
	if (!ctx->state) {
		code = make_state(ctx, error);
		if (!code)
			code = endpoint_begin(&ctx->state->own, error);
		if (code)
			return code;
	}
	ctx->state->begun = true;
	return 0;
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
	return error_set(error, -ENODEV, "the address of device %s belongs to device %s", ib_dev,
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
		code = cm_wait(channel, event, deadline, context_alarm(ctx), error);
	} while (!code && event->event.event == RDMA_CM_EVENT_ADDR_CHANGE);
	if (code == -ETIMEDOUT)
		return error_set(error, code, "%sno answer within %u ms", step_name(wanted),
				 timeout_ms);
	if (code)
		return code;
	ctx->event = &event->event;
	return event->event.event == wanted ? 0 : cm_unexpected(event, error);
}

int context_check(struct rdma_context *ctx, struct ibv_context *verbs, uint8_t port,
		  struct error *error)
{
	struct rdma_state *state = ctx->state;
	bool borrows = context_borrows(ctx);
	const struct limits wanted = {
		.transport = state->transport,
		.send_depth = settings_send_depth(&ctx->settings),
		.recv_depth = state->endpoint->srq ? 0 : settings_recv_depth(&ctx->settings),
		.cq_depth = borrows ? 0
				    : (uint64_t)settings_send_depth(&ctx->settings) +
					      settings_recv_depth(&ctx->settings),
		.sge = settings_sges(&ctx->settings),
		.reads = ctx->settings.outstanding_reads,
		.message_bytes = ctx->settings.max_message,
		.mtu = state->path.settings.mtu,
		.ack_timeout = ctx->settings.ack_timeout,
		.retries = settings_retry_count(&ctx->settings),
		.rnr_retries = settings_rnr_retry(&ctx->settings),
		.rnr_timer = ctx->settings.min_rnr_timer,
		.service_level = state->path.settings.sl,
	};
	int code = verbs_result(ibv_query_device(verbs, &state->device));

	if (code)
		return error_set_errno(error, code, "cannot query the device");
	state->port_num = port;
	code = verbs_result(ibv_query_port(verbs, port, &state->port));
	if (code)
		return error_set_errno(error, code, "cannot query port %u", port);
	return limits_check(&wanted, &state->device, &state->port, error);
}

static int build_own(struct rdma_context *ctx, struct error *error)
{
	const struct endpoint_settings settings = {
		.buffer_size = ctx->buffer_size,
		.memory = ctx->settings.huge_pages ? &memory_huge : NULL,
		.numa_node = -1,
		.cq_depth =
			settings_send_depth(&ctx->settings) + settings_recv_depth(&ctx->settings),
		.wait = (enum rdma_wait_mode)ctx->cq_notify,
		.spin_us = ctx->settings.spin_us,
	};
	int code = endpoint_build(&ctx->state->own, ctx->conn->verbs, &settings, error);

	ctx->buffer_size = code ? ctx->buffer_size : ctx->state->own.buffer_size;
	return code;
}

/* A queue pair and its endpoint must use the same verbs context of the same device. */
static int check_borrowed(const struct rdma_context *ctx, struct error *error)
{
	struct ibv_context *endpoint = ctx->state->endpoint->verbs;
	struct ibv_context *conn = ctx->conn->verbs;
	const char *device = ibv_get_device_name(conn->device);

	if (conn == endpoint)
		return 0;
	if (!strcmp(device, ibv_get_device_name(endpoint->device)))
		return error_set(
			error, -EINVAL,
			"device %s is open twice: endpoint and connection use different contexts",
			device);
	return error_set(error, -EINVAL,
			 "the connection uses device %s, but its endpoint is on device %s", device,
			 ibv_get_device_name(endpoint->device));
}

/* Allocates memory for message headers, which no peer can write to. */
static int create_slots(struct rdma_context *ctx, struct error *error)
{
	int node = device_numa_node(ibv_get_device_name(ctx->conn->verbs->device));
	struct rdma_state *state = ctx->state;
	int code = memory_open(
		&state->slots, &memory_host,
		&(struct memory_request){.size = sizeof(struct context_slots), .numa_node = node},
		error);

	if (code)
		return code;
	state->slots_mr = memory_register(&state->slots, 0, sizeof(struct context_slots), ctx->pd,
					  IBV_ACCESS_LOCAL_WRITE, error);
	return state->slots_mr ? 0 : error->code;
}

int context_open_qp(struct rdma_context *ctx, struct error *error)
{
	const struct endpoint *endpoint = ctx->state->endpoint;
	int code;

	ctx->pd = endpoint->pd;
	ctx->mr = ctx->state->region ? ctx->state->region : endpoint->mr;
	ctx->cq = endpoint->completion.cq;
	ctx->buffer = (char *)(uintptr_t)endpoint->memory.address;
	code = qp_open(ctx, error);
	return code ? code : guard_device(ctx, error);
}

int context_build(struct rdma_context *ctx, struct error *error)
{
	int code = context_check(ctx, ctx->conn->verbs, ctx->conn->port_num, error);

	if (code)
		return code;
	code = context_borrows(ctx) ? check_borrowed(ctx, error) : build_own(ctx, error);
	if (!code)
		code = context_open_qp(ctx, error);
	if (!code && !context_borrows(ctx))
		code = create_slots(ctx, error);
	if (!code && !ctx->settings.own_receives)
		code = context_prepare(ctx, error);
	return code;
}

struct rdma_remote context_own(const struct rdma_context *ctx)
{
	return (struct rdma_remote){
		.address = (uintptr_t)ctx->buffer, .size = ctx->buffer_size, .rkey = ctx->mr->rkey};
}

void context_set_ack_timeout(struct rdma_context *ctx)
{
	uint8_t timeout = settings_ack_timeout(&ctx->settings);

	/*
	 * rdma_cm's default is 19, 2 s per try. Fails on kernels before 5.2 and on iWARP,
	 * harmlessly.
	 */
	rdma_set_option(ctx->conn, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout,
			sizeof(timeout));
}

int context_connected(struct rdma_context *ctx, struct rdma_event_channel *channel,
		      struct error *error)
{
	struct ibv_qp_attr attr = {.min_rnr_timer = settings_rnr_timer(&ctx->settings)};
	int code;

	/* rdma_cm leaves it at 0, which is the maximum: 655 ms. iWARP has no RNR timer. */
	code = ctx->conn->verbs->device->transport_type == IBV_TRANSPORT_IWARP
		       ? 0
		       : verbs_result(ibv_modify_qp(ctx->qp, &attr, IBV_QP_MIN_RNR_TIMER));
	if (code)
		alarm_note(context_alarm(ctx), "cannot set the RNR timer: it stays at 655 ms");
	code = guard_connection(ctx, channel, error);
	ctx->state->connected = !code;
	return code;
}

int context_prepare(struct rdma_context *ctx, struct error *error)
{
	struct rdma_state *state = ctx->state;
	struct context_slots *slots = (struct context_slots *)(void *)state->slots.cpu;
	uint64_t longest = state->port.max_msg_sz - SEND_HEADER_SIZE;
	struct post_work work;
	int code;

	if (state->prepared || state->arrived)
		return 0;
	post_clear(&work);
	work.id = CONTEXT_RECEIVE;
	work.n_sges = 2;
	work.sges[0] = (struct ibv_sge){.addr = (uintptr_t)slots->received,
					.length = SEND_HEADER_SIZE,
					.lkey = state->slots_mr->lkey};
	work.sges[1] = (struct ibv_sge){
		.addr = (uintptr_t)ctx->buffer,
		.length = (uint32_t)(ctx->buffer_size < longest ? ctx->buffer_size : longest),
		.lkey = ctx->mr->lkey};
	code = verbs_result(post_receive(&state->queue, &work));
	if (code)
		return error_set_errno(error, code, "cannot post a receive");
	state->prepared = true;
	return 0;
}

int context_drop(struct rdma_context *ctx)
{
	struct rdma_state *state = ctx->state;
	int first = 0;

	/* First: this disconnect must not raise the alarm of other contexts on the endpoint. */
	guard_release(ctx);
	if (state->connected && ctx->conn)
		rdma_disconnect(ctx->conn); /* fails if the peer disconnected first */
	error_keep(&first, qp_close(ctx));
	if (state->path.route.ah)
		error_keep(&first, verbs_result(ibv_destroy_ah(state->path.route.ah)));
	if (state->slots_mr)
		error_keep(&first, verbs_result(ibv_dereg_mr(state->slots_mr)));
	if (!context_borrows(ctx))
		error_keep(&first, endpoint_strip(&state->own));
	if (ctx->conn)
		error_keep(&first, verbs_result(rdma_destroy_id(ctx->conn)));
	if (state->channel)
		rdma_destroy_event_channel(state->channel);
	memory_close(&state->slots);
	ctx->conn = NULL;
	ctx->pd = NULL;
	ctx->mr = NULL;
	ctx->cq = NULL;
	ctx->buffer = NULL;
	ctx->event = NULL;
	ctx->max_inline = 0;
	ctx->remote = (struct rdma_remote){0};
	ctx->received = ctx->last_write = ctx->last_read = (struct rdma_message){0};
	state->path = (struct context_path){0};
	state->slots_mr = NULL;
	state->channel = NULL;
	state->failed = (struct error){0};
	state->connected = state->prepared = state->arrived = state->probing = false;
	if (!context_borrows(ctx))
		alarm_reset(&state->own.alarm);
	return first;
}

int context_release(struct rdma_context *ctx)
{
	int first = 0;

	if (!ctx->state)
		return 0;
	error_keep(&first, context_drop(ctx));
	if (ctx->listener)
		error_keep(&first, verbs_result(rdma_destroy_id(ctx->listener)));
	if (ctx->ec)
		rdma_destroy_event_channel(ctx->ec);
	ctx->listener = NULL;
	ctx->ec = NULL;
	ctx->port = 0;
	ctx->address[0] = '\0';
	if (context_borrows(ctx))
		ctx->state->endpoint->n_contexts--;
	else
		error_keep(&first, endpoint_close(&ctx->state->own));
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
