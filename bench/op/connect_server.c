/* SPDX-License-Identifier: MIT */
#include "bench/op/connect_server.h"

#include <errno.h>
#include <string.h>

#include "bench/op/timed_call.h"
#include "core/base/compiler.h"
#include "core/rdma/settings.h"
#include "core/verbs/verbs.h"

struct accepting {
	struct lane *lane;
	struct flow *flow;     /* the flow with the listener */
	struct rdma_cm_id *id; /* the current connection, or NULL */
};

/* Destroys the current connection. The peer is notified if it does not know yet. */
static int drop(struct accepting *accepting, struct error *error)
{
	struct rdma_cm_id *id = accepting->id;
	int code;

	if (!id)
		return 0;
	accepting->id = NULL;
	rdma_disconnect(id);
	if (id->qp)
		rdma_destroy_qp(id);
	code = verbs_result(rdma_destroy_id(id));
	return code ? error_set_errno(error, code, "cannot destroy a connection identifier") : 0;
}

/*
 * Checks a connection request. The client must be permitted, and must send the same buffer address
 * as the lane's own client, which others do not know. With a secret, the client must also send the
 * next ticket, which is valid once.
 */
static int connect_server_check(const struct accepting *accepting,
				const struct rdma_cm_event *event, struct error *error)
{
	const struct rdma_conn_param *asked = &event->param.conn;
	const struct rdma_remote *own = &accepting->flow->context.remote;
	struct secret_tickets tickets = accepting->flow->tickets;
	uint8_t ticket[PRIVATE_DATA_TICKET];
	struct rdma_remote found;
	int code = context_check_client(&accepting->flow->context, event->id, error);

	if (!code)
		code = private_data_read(&found, asked->private_data, asked->private_data_len,
					 error);
	if (code)
		return code;
	if (found.address != own->address || found.size != own->size || found.rkey != own->rkey)
		return error_set(error, -EACCES, "this listener is for another client");
	if (!tickets.is_open)
		return 0;
	secret_tickets_next(&tickets, ticket, sizeof(ticket));
	code = private_data_check_ticket(asked->private_data, asked->private_data_len, ticket,
					 error);
	if (!code)
		accepting->flow->tickets = tickets;
	explicit_bzero(&tickets, sizeof(tickets));
	return code;
}

static int answer(struct accepting *accepting, const struct rdma_conn_param *asked,
		  struct error *error)
{
	const struct rdma_context *context = &accepting->flow->context;
	uint8_t reads = settings_reads(&context->settings, &context->state->device);
	struct ibv_qp_init_attr attr = timed_call_queue(accepting->lane);
	struct rdma_conn_param param = {
		.responder_resources = (uint8_t)min_u64(asked->responder_resources, reads),
		.initiator_depth = (uint8_t)min_u64(asked->initiator_depth, reads),
		.rnr_retry_count = settings_rnr_retry(&context->settings),
	};
	int code = verbs_result(rdma_create_qp(accepting->id, accepting->lane->endpoint.pd, &attr));

	if (code)
		return verbs_memory_error(error, code, "create a queue pair");
	code = verbs_result(rdma_accept(accepting->id, &param));
	return code ? error_set_errno(error, code, "cannot accept a connection") : 0;
}

/* Accepts a connection. The client makes one at a time, so a previous connection has ended. */
static int connect_server_take(struct accepting *accepting, const struct cm_event *event,
			       struct error *error)
{
	struct rdma_cm_id *id = event->event.id;
	struct error fault = {0};
	int code;

	if (connect_server_check(accepting, &event->event, &fault)) {
		cm_reject(id, fault.text);
		rdma_destroy_id(id);
		return 0;
	}
	code = drop(accepting, error);
	accepting->id = id;
	if (code)
		return code;
	lane_think(accepting->lane);
	code = answer(accepting, &event->event.param.conn, &fault);
	if (!code) {
		accepting->lane->result.messages++;
		return 0;
	}
	/* If the client has gone, the alarm reports the reason. */
	if (cm_has_gone(id))
		return drop(accepting, error);
	cm_reject(id, fault.text);
	return error_set(error, code, "%s", fault.text);
}

static int handle_event(struct accepting *accepting, const struct cm_event *event,
			struct error *error)
{
	enum rdma_cm_event_type type = event->event.event;

	if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
		return connect_server_take(accepting, event, error);
	if (type == RDMA_CM_EVENT_DEVICE_REMOVAL)
		return cm_unexpected(event, error);
	if (event->event.id == accepting->id && type != RDMA_CM_EVENT_ESTABLISHED)
		return drop(accepting, error);
	return 0;
}

int connect_server_run(struct lane *lane, struct error *error)
{
	struct accepting accepting = {.lane = lane, .flow = &lane->flows[0]};
	struct rdma_event_channel *channel = accepting.flow->context.ec;
	int code = 0;

	while (!code) {
		struct cm_event event;

		code = cm_wait(channel, &event, UINT64_MAX, &lane->endpoint.alarm, error);
		if (!code)
			code = handle_event(&accepting, &event, error);
	}
	drop(&accepting, error);
	return code;
}
