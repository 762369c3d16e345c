/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "core/base/address.h"
#include "core/base/compiler.h"
#include "core/rdma/context.h"
#include "core/rdma/private_data.h"
#include "core/rdma/settings.h"
#include "core/verbs/device.h"
#include "core/verbs/verbs.h"

/* Clients that may queue while one is served. */
#define BACKLOG 16

/* Binds to all addresses, or to ib_dev: an address, or a device with an address. */
static int bind_listener(struct rdma_context *ctx, uint16_t port, const char *ib_dev,
			 struct error *error)
{
	struct sockaddr_storage address = {0};
	int code;

	if (!ib_dev) {
		snprintf(ctx->address, sizeof(ctx->address), "*");
		return cm_bind_all(ctx->listener, port);
	}
	code = device_address(ib_dev, NULL, &address, error);
	if (code)
		return code;
	address_text((struct sockaddr *)&address, ctx->address);
	code = cm_bind(ctx->listener, &address, port);
	if (code == -ENODEV || code == -EADDRNOTAVAIL)
		error_set(error, code, "no RDMA device has the address %s", ctx->address);
	return code ? code : context_check_device(ctx->listener, ib_dev, error);
}

static int listen_on(struct rdma_context *ctx, uint16_t port, const char *ib_dev,
		     struct error *error)
{
	int code = bind_listener(ctx, port, ib_dev, error);

	if (!code)
		code = verbs_result(rdma_listen(ctx->listener, BACKLOG));
	if (code == -EADDRINUSE)
		return error_set(error, code,
				 "port %u is in use; choose another, or 0 for a free one", port);
	if (code)
		return error_set_errno(error, code, "cannot listen on port %u", port);
	ctx->port = ntohs(rdma_get_src_port(ctx->listener));
	return 0;
}

static int setup(struct rdma_context *ctx, uint16_t port, const char *ib_dev, struct error *error)
{
	int code = context_begin(ctx, error);

	/* A borrowed endpoint is already on a device. */
	if (!code && !context_borrows(ctx))
		code = device_require(error);
	if (!code)
		code = cm_channel_open(&ctx->ec, error);
	if (code)
		return code;
	code = verbs_result(rdma_create_id(ctx->ec, &ctx->listener, ctx, RDMA_PS_TCP));
	if (code)
		return error_set_errno(error, code, "cannot create a connection identifier");
	return listen_on(ctx, port, ib_dev, error);
}

int rdma_setup_server(struct rdma_context *sctx, uint16_t port, const char *ib_dev)
{
	bool fresh = context_is_fresh(sctx);
	struct error error = {0};
	int code = setup(sctx, port, ib_dev, &error);

	if (code && fresh)
		context_release(sctx);
	return context_end(sctx, code, &error);
}

/* Waits for a connection request with a valid greeting and keeps it as conn. */
static int wait_for_request(struct rdma_context *ctx, struct rdma_conn_param *asked,
			    struct error *error)
{
	unsigned int idle_ms = ctx->settings.idle_timeout_ms;
	uint64_t deadline = idle_ms ? clock_deadline(idle_ms) : UINT64_MAX;
	struct rdma_state *state = ctx->state;

	for (;;) {
		struct error fault = {0};
		int code = cm_wait(ctx->ec, &state->event, deadline, context_alarm(ctx), error);

		if (code == -ETIMEDOUT)
			return error_set(error, code, "no client within %u ms", idle_ms);
		if (code)
			return code;
		ctx->event = &state->event.event;
		if (ctx->event->event == RDMA_CM_EVENT_DEVICE_REMOVAL)
			return cm_unexpected(&state->event, error);
		if (ctx->event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
			continue;
		*asked = ctx->event->param.conn;
		code = context_check_client(ctx, ctx->event->id, &fault);
		if (!code)
			code = private_data_read(&ctx->remote, asked->private_data,
						 asked->private_data_len, &fault);
		if (!code && state->has_ticket)
			code = private_data_check_ticket(asked->private_data,
							 asked->private_data_len, state->ticket,
							 &fault);
		if (!code) {
			ctx->conn = ctx->event->id;
			return 0;
		}
		cm_reject(ctx->event->id, fault.text);
		rdma_destroy_id(ctx->event->id);
	}
}

static bool has_gone(struct rdma_context *ctx, struct error *error)
{
	if (!cm_has_gone(ctx->conn))
		return false;
	*error = (struct error){0};
	error_set(error, -ECONNABORTED,
		  "the client did not complete its connection: it gave up, or its process ended");
	return true;
}

static int accept_client(struct rdma_context *ctx, const struct rdma_conn_param *asked,
			 struct error *error)
{
	const struct rdma_remote own = context_own(ctx);
	uint8_t greeting[PRIVATE_DATA_GREETING];
	struct rdma_conn_param param = {
		.private_data = greeting,
		.private_data_len = (uint8_t)private_data_greet(greeting, &own),
		.responder_resources =
			(uint8_t)min_u64(asked->responder_resources,
					 settings_reads(&ctx->settings, &ctx->state->device)),
		.initiator_depth =
			(uint8_t)min_u64(asked->initiator_depth,
					 settings_reads(&ctx->settings, &ctx->state->device)),
		.rnr_retry_count = settings_rnr_retry(&ctx->settings),
	};
	int code = verbs_result(rdma_accept(ctx->conn, &param));

	if (code && has_gone(ctx, error))
		return error->code;
	if (code) {
		error_set_errno(error, code, "cannot accept the client");
		cm_reject(ctx->conn, error->text);
		return code;
	}
	code = context_expect(ctx, ctx->state->channel, RDMA_CM_EVENT_ESTABLISHED,
			      settings_timeout_ms(&ctx->settings), error);
	if (code)
		return error_wrap(error, "the client did not complete its connection");
	return context_connected(ctx, ctx->state->channel, error);
}

/* Moves the client to a channel of its own; other clients wait on ec. */
static int build_for_client(struct rdma_context *ctx, struct error *error)
{
	int code = cm_channel_open(&ctx->state->channel, error);

	if (code)
		return code;
	code = verbs_result(rdma_migrate_id(ctx->conn, ctx->state->channel));
	if (code)
		return error_set_errno(error, code, "cannot move the client to its own channel");
	context_set_ack_timeout(ctx);
	return context_build(ctx, error);
}

static int wait_for_client(struct rdma_context *ctx, struct error *error)
{
	struct rdma_conn_param asked = {0};
	int code = 0;

	if (!ctx->state || !ctx->listener)
		return error_set(error, -EINVAL,
				 "context is not listening; call rdma_setup_server first");
	context_drop(ctx);
	/* The previous client's disconnect has raised the alarm: renew once all are gone. */
	if (context_borrows(ctx) && ctx->state->endpoint->is_used &&
	    !ctx->state->endpoint->n_queues)
		code = endpoint_renew(ctx->state->endpoint, error);
	if (code)
		return code;
	code = wait_for_request(ctx, &asked, error);
	if (code)
		return code;
	code = build_for_client(ctx, error);
	if (code && has_gone(ctx, error))
		return error->code;
	if (code) {
		cm_reject(ctx->conn, error->text);
		return code;
	}
	return accept_client(ctx, &asked, error);
}

int rdma_wait_for_client(struct rdma_context *sctx)
{
	struct error error = {0};
	int code = wait_for_client(sctx, &error);

	/* On failure, drop the client's connection and keep the listener. */
	if (code && sctx->state && sctx->listener)
		context_drop(sctx);
	return context_end(sctx, code, &error);
}
