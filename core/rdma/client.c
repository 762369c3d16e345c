/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/base/address.h"
#include "core/rdma/context.h"
#include "core/rdma/private_data.h"
#include "core/rdma/settings.h"
#include "core/verbs/device.h"
#include "core/verbs/verbs.h"

/* Binds the id to the device that leads to the address, or to ib_dev. */
static int resolve_address(struct rdma_context *ctx, struct sockaddr *remote, const char *ib_dev,
			   unsigned int timeout_ms, struct error *error)
{
	struct sockaddr_storage source;
	struct sockaddr *from = NULL;
	int code;

	if (address_is_loopback(remote) && !device_is_reached_by(remote))
		return error_set(error, -EADDRNOTAVAIL,
				 "no RDMA device is reachable through a loopback address; "
				 "use the device's own address (see 'verbmark devices')");
	if (ib_dev) {
		code = device_address(ib_dev, remote, &source, error);
		if (code)
			return code;
		from = (struct sockaddr *)&source;
	}
	code = verbs_result(rdma_resolve_addr(ctx->conn, from, remote, (int)timeout_ms));
	if (code == -ENODEV)
		return error_set(error, code, "no RDMA device has a route to this address");
	if (code)
		return error_set_errno(error, code, "cannot resolve the address");
	code = context_expect(ctx, ctx->ec, RDMA_CM_EVENT_ADDR_RESOLVED, timeout_ms, error);
	return code ? code : context_check_device(ctx->conn, ib_dev, error);
}

static int resolve_route(struct rdma_context *ctx, unsigned int timeout_ms, struct error *error)
{
	int code = verbs_result(rdma_resolve_route(ctx->conn, (int)timeout_ms));

	if (code)
		return error_set_errno(error, code, "cannot resolve the route");
	return context_expect(ctx, ctx->ec, RDMA_CM_EVENT_ROUTE_RESOLVED, timeout_ms, error);
}

/* Destroys the id on failure: it cannot be used to resolve another address. */
static int try_address(struct rdma_context *ctx, struct sockaddr *remote, const char *ib_dev,
		       unsigned int timeout_ms, struct error *error)
{
	int code = verbs_result(rdma_create_id(ctx->ec, &ctx->conn, ctx, RDMA_PS_TCP));

	if (code)
		return error_set_errno(error, code, "cannot create a connection identifier");
	code = resolve_address(ctx, remote, ib_dev, timeout_ms, error);
	if (!code)
		code = resolve_route(ctx, timeout_ms, error);
	if (code) {
		rdma_destroy_id(ctx->conn);
		ctx->conn = NULL;
	}
	return code;
}

/* Keeps the first error of an address that leads to a device, as the most informative one. */
static void explain_failure(struct error *first, const struct error *fault,
			    const struct address_list *list, unsigned int i)
{
	char text[ADDRESS_TEXT];

	if (first->code && (first->code != -ENODEV || fault->code == -ENODEV))
		return;
	*first = *fault;
	if (list->count > 1)
		error_wrap(first, "%s",
			   address_text((const struct sockaddr *)&list->address[i], text));
}

/* Tries the addresses of a name in turn, sharing the time limit, until one is reachable. */
static int resolve(struct rdma_context *ctx, const char *host, uint16_t port, const char *ib_dev,
		   struct error *error)
{
	unsigned int timeout_ms = settings_timeout_ms(&ctx->settings);
	struct address_list list;
	struct error first = {0};
	int code = address_resolve(&list, host, port, clock_deadline(timeout_ms), error);

	if (code)
		return code;
	for (unsigned int i = 0; i < list.count; i++) {
		struct error fault = {0};

		code = try_address(ctx, (struct sockaddr *)&list.address[i], ib_dev,
				   timeout_ms / list.count, &fault);
		if (!code)
			return 0;
		if (code == -ECANCELED)
			return error_set(error, code, "%s", fault.text);
		explain_failure(&first, &fault, &list, i);
	}
	return error_set(error, first.code, "%s", first.text);
}

static int setup(struct rdma_context *ctx, const char *host, uint16_t port, const char *ib_dev,
		 struct error *error)
{
	int code = context_begin(ctx, error);

	/* A borrowed endpoint is already on a device. */
	if (!code && !context_borrows(ctx))
		code = device_require(error);
	if (!code)
		code = cm_channel_open(&ctx->ec, error);
	if (code)
		return code;
	code = resolve(ctx, host, port, ib_dev, error);
	if (code)
		return error_wrap(error, "%s", host);
	address_text(rdma_get_local_addr(ctx->conn), ctx->address);
	context_set_ack_timeout(ctx);
	return context_build(ctx, error);
}

int rdma_setup_client(struct rdma_context *cctx, const char *host, uint16_t port,
		      const char *ib_dev)
{
	bool fresh = context_is_fresh(cctx);
	struct error error = {0};
	int code = setup(cctx, host, port, ib_dev, &error);

	if (code && fresh)
		context_release(cctx);
	return context_end(cctx, code, &error);
}

static int connect_server(struct rdma_context *ctx, struct error *error)
{
	const struct rdma_remote own = context_own(ctx);
	uint8_t greeting[PRIVATE_DATA_GREETING + PRIVATE_DATA_TICKET];
	struct rdma_conn_param param = {
		.private_data = greeting,
		.private_data_len = (uint8_t)private_data_greet(greeting, &own),
		.responder_resources = settings_reads(&ctx->settings, &ctx->state->device),
		.initiator_depth = settings_reads(&ctx->settings, &ctx->state->device),
		.retry_count = settings_retry_count(&ctx->settings),
		.rnr_retry_count = settings_rnr_retry(&ctx->settings),
	};
	const struct rdma_conn_param *answer;
	int code;

	if (ctx->state->has_ticket)
		param.private_data_len =
			(uint8_t)private_data_add_ticket(greeting, ctx->state->ticket);
	code = verbs_result(rdma_connect(ctx->conn, &param));
	if (code)
		return error_set_errno(error, code, "cannot connect");
	code = context_expect(ctx, ctx->ec, RDMA_CM_EVENT_ESTABLISHED,
			      settings_timeout_ms(&ctx->settings), error);
	if (code)
		return code;
	ctx->state->connected = true;
	answer = &ctx->event->param.conn;
	code = private_data_read(&ctx->remote, answer->private_data, answer->private_data_len,
				 error);
	if (code)
		return code;
	return context_connected(ctx, ctx->ec, error);
}

int rdma_connect_server(struct rdma_context *cctx)
{
	char address[ADDRESS_TEXT];
	struct error error = {0};
	int code;

	if (!cctx->state || !cctx->qp || !cctx->conn || cctx->listener || cctx->state->connected) {
		code = error_set(&error, -EINVAL,
				 "context has no connection to make; call rdma_setup_client first");
		return context_end(cctx, code, &error);
	}
	code = connect_server(cctx, &error);
	if (code) {
		const struct sockaddr *remote = rdma_get_peer_addr(cctx->conn);

		error_wrap(&error, "%s port %u", address_text(remote, address),
			   address_port(remote));
		/* Keep the state until rdma_close: another thread may be in rdma_abort. */
		context_drop(cctx);
	}
	return context_end(cctx, code, &error);
}
