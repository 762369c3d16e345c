/* SPDX-License-Identifier: MIT */
#include "core/pool/server_client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/rdma/private_data.h"
#include "core/rdma/settings.h"
#include "core/verbs/verbs.h"

#define QUIET_NS (5 * NS_PER_S)

static const struct rdma_settings defaults;

static void report(const struct server_client *client, struct pool_report what)
{
	const struct pool_settings *settings = &client->server->settings;

	what.who = client->name;
	if (settings->tell)
		settings->tell(settings->owner, &what);
}

struct server_client *server_client_find(const struct pool_server *server, uint32_t qp_num)
{
	struct server_client *client = server->by_qp[qp_num % POOL_BUCKETS];

	while (client && client->id->qp->qp_num != qp_num)
		client = client->next_queue;
	return client;
}

struct server_client *server_client_create(struct pool_server *server, struct rdma_cm_id *id)
{
	struct server_client *client = calloc(1, sizeof(*client));
	char address[ADDRESS_TEXT];

	if (!client)
		return NULL;
	client->server = server;
	client->id = id;
	address_text(rdma_get_peer_addr(id), address);
	snprintf(client->name, sizeof(client->name), "%s #%u", address, ++server->n_ever);
	for (size_t i = 0; i < SERVER_CLIENT_REPLIES; i++) {
		client->replies[i] = (struct reply){.client = client, .next = client->free};
		client->free = &client->replies[i];
	}
	client->n_free = SERVER_CLIENT_REPLIES;
	id->context = client;
	return client;
}

static void list(struct server_client *client)
{
	struct pool_server *server = client->server;
	struct server_client **bucket = &server->by_qp[client->id->qp->qp_num % POOL_BUCKETS];

	client->next_queue = *bucket;
	*bucket = client;
}

static void unlist(struct server_client *client)
{
	struct pool_server *server = client->server;
	struct server_client **link = &server->by_qp[client->id->qp->qp_num % POOL_BUCKETS];

	while (*link && *link != client)
		link = &(*link)->next_queue;
	if (*link)
		*link = client->next_queue;
}

static int build(struct server_client *client, struct error *error)
{
	struct pool_server *server = client->server;
	struct ibv_qp_init_attr attr = {
		.send_cq = server->completion.cq,
		.recv_cq = server->completion.cq,
		.srq = server->mailbox.srq,
		.qp_context = &client->has_last,
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = server_client_requests(server), .max_send_sge = 1},
	};
	int code;

	client->pd = server->has_domains ? ibv_alloc_pd(server->device.verbs) : server->pd;
	if (!client->pd)
		return error_set_errno(error, verbs_null(), "cannot allocate a protection domain");
	client->mr = verbs_register(client->pd, client->replies, sizeof(client->replies), 0, error);
	if (!client->mr)
		return error->code;
	code = verbs_result(rdma_create_qp(client->id, client->pd, &attr));
	if (code)
		return verbs_memory_error(error, code, "create a queue pair");
	list(client);
	return 0;
}

int server_client_admit(struct server_client *client, const struct rdma_conn_param *asked,
			struct error *error)
{
	/* Clients cannot access the pool as a whole: they only learn its size. */
	const struct rdma_remote own = {.size = client->server->grants.size};
	uint8_t timeout = settings_ack_timeout(&defaults);
	uint8_t greeting[PRIVATE_DATA_GREETING];
	struct rdma_conn_param param = {
		.private_data = greeting,
		.private_data_len = (uint8_t)private_data_greet(greeting, &own),
		.rnr_retry_count = settings_rnr_retry(&defaults),
		.retry_count = settings_retry_count(&defaults),
		/* In this event, it is the client's initiator depth: see rdma_get_cm_event(3). */
		.responder_resources = asked->responder_resources ? 1 : 0,
	};
	int code = private_data_read(&client->remote, asked->private_data, asked->private_data_len,
				     error);

	if (code)
		return code;
	rdma_set_option(client->id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout,
			sizeof(timeout));
	code = build(client, error);
	if (code)
		return code;
	client->heard_ns = client->since_ns = clock_now_ns();
	code = verbs_result(rdma_accept(client->id, &param));
	return code ? error_set_errno(error, code, "cannot accept the client") : 0;
}

void server_client_welcome(struct server_client *client)
{
	struct ibv_qp_attr attr = {.min_rnr_timer = settings_rnr_timer(&defaults)};

	if (client->is_welcome || client->is_leaving)
		return;
	client->is_welcome = true;
	/* rdma_cm leaves it at 0, which is the maximum: 655 ms. iWARP has no RNR timer. */
	ibv_modify_qp(client->id->qp, &attr, IBV_QP_MIN_RNR_TIMER);
	report(client, (struct pool_report){.event = POOL_CAME});
}

void server_client_leave(struct server_client *client, const char *reason)
{
	if (client->is_leaving)
		return;
	/* Report POOL_CAME before the failure. */
	if (reason)
		server_client_welcome(client);
	client->is_leaving = true;
	client->leaving_ns = clock_now_ns();
	client->server->n_leaving++;
	rdma_disconnect(client->id);
	if (reason)
		report(client, (struct pool_report){.event = POOL_DENIED, .reason = reason});
}

void server_client_detach(struct server_client *client)
{
	if (!client->id->qp)
		return;
	unlist(client);
	for (struct grant *grant = client->grants; grant; grant = grant->next)
		grant_revoke(grant);
	rdma_destroy_qp(client->id);
}

void server_client_destroy(struct server_client *client)
{
	struct pool_server *server = client->server;
	uint64_t size = 0;
	uint64_t length;

	server_client_detach(client);
	while (client->grants) {
		struct grant *grant = client->grants;

		client->grants = grant->next;
		length = grant->mr->length;
		if (!grants_abandon(&server->grants, grant))
			size += length;
	}
	if (client->is_welcome)
		report(client, (struct pool_report){.event = POOL_WENT, .size = size});
	if (client->mr)
		ibv_dereg_mr(client->mr);
	if (client->pd && client->pd != server->pd)
		ibv_dealloc_pd(client->pd);
	/* If the id cannot be destroyed, its events belong to no client. */
	client->id->context = NULL;
	rdma_destroy_id(client->id);
	free(client);
}

static struct reply *take_reply(struct server_client *client)
{
	struct reply *reply = client->free;

	if (reply) {
		client->free = reply->next;
		client->n_free--;
	}
	return reply;
}

static void give_reply(struct reply *reply)
{
	reply->next = reply->client->free;
	reply->client->free = reply;
	reply->client->n_free++;
}

static void post(struct reply *reply, struct ibv_send_wr *wr)
{
	struct server_client *client = reply->client;
	struct ibv_send_wr *bad;

	wr->wr_id = (uintptr_t)reply;
	wr->send_flags = IBV_SEND_SIGNALED;
	if (!ibv_post_send(client->id->qp, wr, &bad))
		return;
	give_reply(reply);
	server_client_leave(client, "cannot send an answer to the client");
}

/* Sends an answer. The reply is in use until its completion. */
static void answer(struct server_client *client, const struct pool_message *message)
{
	struct reply *reply = take_reply(client);
	struct ibv_sge sge;
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1};

	if (!reply) {
		server_client_leave(client,
				    "the client does not receive the answers to its requests");
		return;
	}
	pool_encode(message, reply->bytes);
	sge = (struct ibv_sge){(uintptr_t)reply->bytes, POOL_MESSAGE, client->mr->lkey};
	post(reply, &wr);
}

void server_client_sent(struct reply *reply, enum ibv_wc_status status)
{
	struct server_client *client = reply->client;

	give_reply(reply);
	client->is_probing = false;
	if (status == IBV_WC_SUCCESS)
		client->heard_ns = clock_now_ns();
	else
		server_client_leave(client,
				    status == IBV_WC_WR_FLUSH_ERR ? NULL : verbs_hint(status));
	/* All answers have arrived, the notice that its time is over included. */
	if (client->expired_ns && client->n_free == SERVER_CLIENT_REPLIES)
		server_client_leave(client, NULL);
}

void server_client_probe(struct server_client *client, uint64_t now_ns)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = {client->remote.address, client->remote.rkey},
	};
	struct reply *reply;

	if (client->is_leaving || client->is_probing || now_ns - client->heard_ns < QUIET_NS)
		return;
	reply = take_reply(client);
	if (!reply)
		return;
	client->is_probing = true;
	post(reply, &wr);
}

void server_client_unbound(struct server_client *client, enum ibv_wc_status status)
{
	server_client_leave(client, status == IBV_WC_WR_FLUSH_ERR ? NULL : verbs_hint(status));
}

/* Denies a request. The reason is reported locally; the client gets the status. */
static void deny_for(struct server_client *client, uint32_t type, enum pool_status status,
		     const char *reason)
{
	if (client->is_leaving)
		return;
	report(client, (struct pool_report){.event = POOL_DENIED, .reason = reason});
	answer(client, &(struct pool_message){.type = type, .status = status});
}

static void deny(struct server_client *client, uint32_t type, enum pool_status status)
{
	deny_for(client, type, status, pool_status_text(status));
}

void server_client_expire(struct server_client *client, uint64_t now_ns)
{
	uint64_t time_ns = client->server->settings.time_ms * NS_PER_MS;

	if (!time_ns || client->is_leaving || now_ns - client->since_ns < time_ns)
		return;
	if (client->expired_ns) {
		if (now_ns - client->expired_ns >= QUIET_NS)
			server_client_leave(client, NULL);
		return;
	}
	server_client_welcome(client);
	client->expired_ns = now_ns;
	deny(client, POOL_REFUSED, POOL_TIME);
}

/* Binds the window. The answer follows on the same queue pair and is not sent if this fails. */
static int bind_window(struct server_client *client, const struct grant *grant)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_BIND_MW,
		.bind_mw = {.mw = grant->mw,
			    .rkey = grant->rkey,
			    .bind_info = {grant->mr, (uintptr_t)grant->mr->addr, grant->mr->length,
					  IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ}},
	};
	struct ibv_send_wr *bad;

	return grant->mw ? verbs_result(ibv_post_send(client->id->qp, &wr, &bad)) : 0;
}

static enum pool_status take_grant(struct server_client *client, const struct pool_message *asked,
				   uint64_t left, struct grant **grant)
{
	struct grants *grants = &client->server->grants;
	enum pool_status status = grants_take(grants, client->pd, asked, left, grant);
	int code = status == POOL_OK ? bind_window(client, *grant) : 0;

	if (!code)
		return status;
	error_set_errno(&grants->fault, code, "cannot bind a memory window");
	grants_abandon(grants, *grant);
	return POOL_NO_REGION;
}

static void allocate(struct server_client *client, const struct pool_message *asked)
{
	struct pool_message granted = {.type = POOL_RESP_ALLOC};
	struct grant *grant;
	struct pool_server *server = client->server;
	uint64_t left =
		server->settings.share ? server->settings.share - client->granted : UINT64_MAX;
	enum pool_status status = take_grant(client, asked, left, &grant);

	if (status == POOL_NO_REGION) {
		deny_for(client, POOL_RESP_ALLOC, status, server->grants.fault.text);
		return;
	}
	if (status != POOL_OK) {
		deny(client, POOL_RESP_ALLOC, status);
		return;
	}
	grant->next = client->grants;
	client->grants = grant;
	granted.size = grant->mr->length;
	client->granted += grants_taken_by(&server->grants, granted.size);
	granted.address = (uintptr_t)grant->mr->addr;
	granted.rkey = grant->rkey;
	granted.every = grant->every;
	report(client, (struct pool_report){.event = POOL_GRANTED,
					    .size = granted.size,
					    .address = granted.address,
					    .rkey = granted.rkey});
	answer(client, &granted);
}

/*
 * Returns the link to the grant that starts at address, or the status: POOL_INSIDE if a
 * grant contains the address.
 */
static struct grant **find_grant(struct server_client *client, uint64_t address,
				 enum pool_status *status)
{
	struct grant **link = &client->grants;

	*status = POOL_NO_GRANT;
	for (; *link; link = &(*link)->next) {
		uint64_t first = (uintptr_t)(*link)->mr->addr;

		if (first == address)
			break;
		if (address > first && address - first < (*link)->mr->length)
			*status = POOL_INSIDE;
	}
	return link;
}

static void give_back(struct server_client *client, const struct pool_message *asked)
{
	enum pool_status status;
	struct grant **link = find_grant(client, asked->address, &status);
	struct grant *grant = *link;
	uint64_t size;

	if (!grant) {
		deny(client, POOL_RESP_FREE, status);
		return;
	}
	size = grant->mr->length;
	*link = grant->next;
	if (grants_give(&client->server->grants, grant)) {
		grant->next = *link;
		*link = grant;
		deny(client, POOL_RESP_FREE, POOL_HELD);
		return;
	}
	client->granted -= grants_taken_by(&client->server->grants, size);
	report(client,
	       (struct pool_report){.event = POOL_FREED, .size = size, .address = asked->address});
	answer(client, &(struct pool_message){.type = POOL_RESP_FREE, .address = asked->address});
}

void server_client_handle(struct server_client *client, const uint8_t *bytes, size_t length)
{
	struct pool_message asked;

	server_client_welcome(client);
	if (client->is_leaving || client->expired_ns)
		return;
	client->heard_ns = clock_now_ns();
	if (pool_decode(&asked, bytes, length)) {
		deny(client, POOL_REFUSED, POOL_MALFORMED);
		return;
	}
	switch (asked.type) {
	case POOL_REQ_ALLOC:
		allocate(client, &asked);
		break;
	case POOL_REQ_FREE:
		give_back(client, &asked);
		break;
	case POOL_REQ_SYNC:
		answer(client, &(struct pool_message){.type = POOL_RESP_SYNC});
		break;
	default:
		deny(client, POOL_REFUSED, POOL_MALFORMED);
		break;
	}
}

void server_client_ring(struct server_client *client, uint32_t number)
{
	struct grant *grant = client->grants;

	server_client_welcome(client);
	if (client->expired_ns)
		return;
	client->heard_ns = clock_now_ns();
	/* Doorbells of a client that is leaving still count: their writes are complete. */
	if (!grant || !grant->every || grant->mr->length < sizeof(uint32_t)) {
		deny(client, POOL_REFUSED, POOL_NO_BELL);
	} else if (number != grant->rung + 1) {
		deny(client, POOL_REFUSED, POOL_OUT_OF_TURN);
	} else {
		grant->rung = number;
		report(client, (struct pool_report){.event = POOL_RUNG,
						    .number = number,
						    .value = grant_value(grant, number)});
	}
}
