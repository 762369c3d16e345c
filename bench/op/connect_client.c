/* SPDX-License-Identifier: MIT */
#include "bench/op/connect_client.h"

#include <errno.h>

#include "bench/op/timed_call.h"
#include "core/base/address.h"
#include "core/rdma/settings.h"
#include "core/verbs/verbs.h"

/* No step takes longer, even if a packet is lost: rdma_cm retransmits after about 4 s. */
#define STEP_MS 10000

struct connecting {
	struct lane *lane;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id; /* may be NULL */
	struct sockaddr_storage own;
	struct sockaddr_storage other;
	/* The private data that identifies the client to the server. */
	uint8_t greeting[PRIVATE_DATA_GREETING + PRIVATE_DATA_TICKET];
	size_t greeting_length;
};

static int await(const struct connecting *connecting, enum rdma_cm_event_type wanted,
		 struct error *error)
{
	struct cm_event event;
	int code = cm_wait(connecting->channel, &event, clock_deadline(STEP_MS),
			   &connecting->lane->endpoint.alarm, error);

	if (code == -ETIMEDOUT)
		return error_set(error, code, "timed out after %d s", STEP_MS / 1000);
	if (code)
		return code;
	return event.event.event == wanted ? 0 : cm_unexpected(&event, error);
}

static int create(struct connecting *connecting, struct error *error)
{
	int code = verbs_result(
		rdma_create_id(connecting->channel, &connecting->id, NULL, RDMA_PS_TCP));

	if (!code)
		return 0;
	connecting->id = NULL;
	return error_set_errno(error, code, "cannot create a connection identifier");
}

static int bind_address(struct connecting *connecting, struct error *error)
{
	struct sockaddr *own = (struct sockaddr *)&connecting->own;
	int code = verbs_result(rdma_bind_addr(connecting->id, own));

	return code ? error_set_errno(error, code, "cannot bind the local address") : 0;
}

static int resolve_address(struct connecting *connecting, struct error *error)
{
	struct sockaddr *other = (struct sockaddr *)&connecting->other;
	int code = verbs_result(rdma_resolve_addr(connecting->id, NULL, other, STEP_MS));

	if (code)
		return error_set_errno(error, code, "cannot resolve the address");
	return await(connecting, RDMA_CM_EVENT_ADDR_RESOLVED, error);
}

static int resolve_route(struct connecting *connecting, struct error *error)
{
	int code = verbs_result(rdma_resolve_route(connecting->id, STEP_MS));

	if (code)
		return error_set_errno(error, code, "cannot resolve the route");
	return await(connecting, RDMA_CM_EVENT_ROUTE_RESOLVED, error);
}

static int create_qp(struct connecting *connecting, struct error *error)
{
	const struct lane *lane = connecting->lane;
	struct ibv_qp_init_attr attr = timed_call_queue(lane);
	int code = verbs_result(rdma_create_qp(connecting->id, lane->endpoint.pd, &attr));

	return code ? verbs_memory_error(error, code, "create a queue pair") : 0;
}

static int connect_id(struct connecting *connecting, struct error *error)
{
	const struct rdma_context *context = &connecting->lane->flows[0].context;
	uint8_t reads = settings_reads(&context->settings, &context->state->device);
	struct rdma_conn_param param = {
		.private_data = connecting->greeting,
		.private_data_len = (uint8_t)connecting->greeting_length,
		.responder_resources = reads,
		.initiator_depth = reads,
		.retry_count = settings_retry_count(&context->settings),
		.rnr_retry_count = settings_rnr_retry(&context->settings),
	};
	int code = verbs_result(rdma_connect(connecting->id, &param));

	if (code)
		return error_set_errno(error, code, "cannot connect");
	return await(connecting, RDMA_CM_EVENT_ESTABLISHED, error);
}

static int disconnect(struct connecting *connecting, struct error *error)
{
	int code = verbs_result(rdma_disconnect(connecting->id));

	if (code)
		return error_set_errno(error, code, "cannot disconnect");
	return await(connecting, RDMA_CM_EVENT_DISCONNECTED, error);
}

static int destroy(struct connecting *connecting, struct error *error)
{
	int code;

	rdma_destroy_qp(connecting->id);
	code = verbs_result(rdma_destroy_id(connecting->id));
	if (code)
		return error_set_errno(error, code, "cannot destroy a connection identifier");
	connecting->id = NULL;
	return 0;
}

static int (*const steps[])(struct connecting *connecting, struct error *error) = {
	[STEP_CREATE] = create,
	[STEP_BIND] = bind_address,
	[STEP_RESOLVE_ADDRESS] = resolve_address,
	[STEP_RESOLVE_ROUTE] = resolve_route,
	[STEP_CREATE_QP] = create_qp,
	[STEP_CONNECT] = connect_id,
	[STEP_DISCONNECT] = disconnect,
	[STEP_DESTROY] = destroy,
};

/*
 * Builds the private data: the same as for the lane's own connection, plus the next ticket if
 * there is a secret.
 */
static void greet(struct connecting *connecting)
{
	struct flow *flow = &connecting->lane->flows[0];
	const struct rdma_remote own = context_own(&flow->context);
	uint8_t ticket[PRIVATE_DATA_TICKET];

	connecting->greeting_length = private_data_greet(connecting->greeting, &own);
	if (!flow->tickets.is_open)
		return;
	secret_tickets_next(&flow->tickets, ticket, sizeof(ticket));
	connecting->greeting_length = private_data_add_ticket(connecting->greeting, ticket);
}

/* If the alarm ended the run, the step is not to blame. */
static int failed(const struct connecting *connecting, uint64_t step, struct error *error)
{
	if (alarm_raised(&connecting->lane->endpoint.alarm))
		return error->code;
	return error_wrap(error, "%s", parameter_word("step", step));
}

static int once(struct connecting *connecting, const struct loop_run *run, struct error *error)
{
	uint64_t step = connecting->lane->settings.parameters->step;
	uint64_t first = step == STEP_WHOLE ? STEP_CREATE : step;
	uint64_t last = step == STEP_WHOLE ? STEP_CONNECT : step;
	uint64_t start = 0;
	uint64_t ticks = 0;

	greet(connecting);
	for (uint64_t i = STEP_CREATE; i < ARRAY_LENGTH(steps); i++) {
		if (i == first)
			start = clock_ticks(run->is_counter);
		if (steps[i](connecting, error))
			return failed(connecting, i, error);
		if (i == last)
			ticks = clock_ticks(run->is_counter) - start;
	}
	loop_record(run, ticks);
	return 0;
}

/* Uses the addresses of the lane's own connection, with any local port. */
static void aim(struct connecting *connecting)
{
	struct rdma_cm_id *own = connecting->lane->flows[0].context.conn;
	const struct sockaddr *from = rdma_get_local_addr(own);
	const struct sockaddr *to = rdma_get_peer_addr(own);

	memcpy(&connecting->own, from, address_length(from));
	memcpy(&connecting->other, to, address_length(to));
	address_set_port(&connecting->own, 0);
}

/* Also cleans up what a failure left behind. */
static void connect_client_end(struct connecting *connecting)
{
	if (connecting->id && connecting->id->qp)
		rdma_destroy_qp(connecting->id);
	if (connecting->id)
		rdma_destroy_id(connecting->id);
	if (connecting->channel)
		rdma_destroy_event_channel(connecting->channel);
}

int connect_client_run(struct lane *lane, const struct loop_run *run, struct error *error)
{
	struct connecting connecting = {.lane = lane};
	struct alarm *alarm = &lane->endpoint.alarm;
	uint64_t count = 0;
	int code = cm_channel_open(&connecting.channel, error);

	if (code)
		return code;
	aim(&connecting);
	/* At least one, however long it takes. */
	do {
		code = alarm_raised(alarm) ? alarm_reason(alarm, error)
					   : once(&connecting, run, error);
		count += !code;
	} while (!code && count < run->messages && clock_ticks(run->is_counter) < run->until);
	connect_client_end(&connecting);
	lane->result.messages += count;
	return code;
}
