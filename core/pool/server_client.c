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

static void report(const struct server_client *guest, struct pool_report what)
{
	const struct pool_settings *settings = &guest->server->settings;

	what.who = guest->name;
	if (settings->tell)
		settings->tell(settings->owner, &what);
}

struct server_client *server_client_find(const struct pool_server *server, uint32_t qp_num)
{
	struct server_client *guest = server->by_queue[qp_num % POOL_BUCKETS];

	while (guest && guest->id->qp->qp_num != qp_num)
		guest = guest->next_queue;
	return guest;
}

struct server_client *server_client_create(struct pool_server *server, struct rdma_cm_id *id)
{
	struct server_client *guest = calloc(1, sizeof(*guest));
	char address[ADDRESS_TEXT];

	if (!guest)
		return NULL;
	guest->server = server;
	guest->id = id;
	address_text(rdma_get_peer_addr(id), address);
	snprintf(guest->name, sizeof(guest->name), "%s #%u", address, ++server->n_ever);
	for (size_t i = 0; i < SERVER_CLIENT_LETTERS; i++) {
		guest->letters[i] = (struct letter){.guest = guest, .next = guest->free};
		guest->free = &guest->letters[i];
	}
	guest->n_free = SERVER_CLIENT_LETTERS;
	id->context = guest;
	return guest;
}

static void list(struct server_client *guest)
{
	struct pool_server *server = guest->server;
	struct server_client **bucket = &server->by_queue[guest->id->qp->qp_num % POOL_BUCKETS];

	guest->next_queue = *bucket;
	*bucket = guest;
}

static void unlist(struct server_client *guest)
{
	struct pool_server *server = guest->server;
	struct server_client **link = &server->by_queue[guest->id->qp->qp_num % POOL_BUCKETS];

	while (*link && *link != guest)
		link = &(*link)->next_queue;
	if (*link)
		*link = guest->next_queue;
}

static int build(struct server_client *guest, struct error *error)
{
	struct pool_server *server = guest->server;
	struct ibv_qp_init_attr attr = {
		.send_cq = server->completion.cq,
		.recv_cq = server->completion.cq,
		.srq = server->mailbox.srq,
		.qp_context = &guest->has_last,
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = server_client_requests(server), .max_send_sge = 1},
	};
	int code;

	guest->pd = server->has_domains ? ibv_alloc_pd(server->device.verbs) : server->pd;
	if (!guest->pd)
		return error_set_errno(error, verbs_null(), "cannot allocate a protection domain");
	guest->mr = verbs_register(guest->pd, guest->letters, sizeof(guest->letters), 0, error);
	if (!guest->mr)
		return error->code;
	code = verbs_result(rdma_create_qp(guest->id, guest->pd, &attr));
	if (code)
		return verbs_memory_error(error, code, "create a queue pair");
	list(guest);
	return 0;
}

int server_client_admit(struct server_client *guest, const struct rdma_conn_param *asked,
			struct error *error)
{
	/* Nobody writes into all of the pool: its size is all that is told of it. */
	const struct rdma_remote own = {.size = guest->server->grants.size};
	uint8_t timeout = settings_ack_timeout(&defaults);
	uint8_t greeting[PRIVATE_DATA_GREETING];
	struct rdma_conn_param param = {
		.private_data = greeting,
		.private_data_len = (uint8_t)private_data_greet(greeting, &own),
		.rnr_retry_count = settings_rnr_retry(&defaults),
		.retry_count = settings_retry_count(&defaults),
		/* What an event has of it is the client's initiator depth: rdma_get_cm_event(3). */
		.responder_resources = asked->responder_resources ? 1 : 0,
	};
	int code = private_data_read(&guest->remote, asked->private_data, asked->private_data_len,
				     error);

	if (code)
		return code;
	rdma_set_option(guest->id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout,
			sizeof(timeout));
	code = build(guest, error);
	if (code)
		return code;
	guest->heard_ns = guest->since_ns = clock_now_ns();
	code = verbs_result(rdma_accept(guest->id, &param));
	return code ? error_set_errno(error, code, "cannot accept the client") : 0;
}

void server_client_welcome(struct server_client *guest)
{
	struct ibv_qp_attr attr = {.min_rnr_timer = settings_rnr_timer(&defaults)};

	if (guest->is_welcome || guest->is_leaving)
		return;
	guest->is_welcome = true;
	/* rdma_cm leaves it at 0, which is the longest: 655 ms. iWARP has none. */
	ibv_modify_qp(guest->id->qp, &attr, IBV_QP_MIN_RNR_TIMER);
	report(guest, (struct pool_report){.event = POOL_CAME});
}

void server_client_leave(struct server_client *guest, const char *reason)
{
	if (guest->is_leaving)
		return;
	/* Who has done something wrong has been here. */
	if (reason)
		server_client_welcome(guest);
	guest->is_leaving = true;
	guest->leaving_ns = clock_now_ns();
	guest->server->n_leaving++;
	rdma_disconnect(guest->id);
	if (reason)
		report(guest, (struct pool_report){.event = POOL_DENIED, .reason = reason});
}

void server_client_part(struct server_client *guest)
{
	if (!guest->id->qp)
		return;
	unlist(guest);
	for (struct grant *grant = guest->grants; grant; grant = grant->next)
		grant_shut(grant);
	rdma_destroy_qp(guest->id);
}

void server_client_destroy(struct server_client *guest)
{
	struct pool_server *server = guest->server;
	uint64_t size = 0;
	uint64_t length;

	server_client_part(guest);
	while (guest->grants) {
		struct grant *grant = guest->grants;

		guest->grants = grant->next;
		length = grant->mr->length;
		if (!grants_leave(&server->grants, grant))
			size += length;
	}
	if (guest->is_welcome)
		report(guest, (struct pool_report){.event = POOL_WENT, .size = size});
	if (guest->mr)
		ibv_dereg_mr(guest->mr);
	if (guest->pd && guest->pd != server->pd)
		ibv_dealloc_pd(guest->pd);
	/* Where it does not go, its events are nobody's. */
	guest->id->context = NULL;
	rdma_destroy_id(guest->id);
	free(guest);
}

static struct letter *take_letter(struct server_client *guest)
{
	struct letter *letter = guest->free;

	if (letter) {
		guest->free = letter->next;
		guest->n_free--;
	}
	return letter;
}

static void give_letter(struct letter *letter)
{
	letter->next = letter->guest->free;
	letter->guest->free = letter;
	letter->guest->n_free++;
}

static void post(struct letter *letter, struct ibv_send_wr *wr)
{
	struct server_client *guest = letter->guest;
	struct ibv_send_wr *bad;

	wr->wr_id = (uintptr_t)letter;
	wr->send_flags = IBV_SEND_SIGNALED;
	if (!ibv_post_send(guest->id->qp, wr, &bad))
		return;
	give_letter(letter);
	server_client_leave(guest, "it cannot be answered any more");
}

/* A letter is its own until its completion gives it back by its wr_id. */
static void answer(struct server_client *guest, const struct pool_message *message)
{
	struct letter *letter = take_letter(guest);
	struct ibv_sge sge;
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1};

	if (!letter) {
		server_client_leave(guest, "it asks and takes no answers");
		return;
	}
	pool_encode(message, letter->bytes);
	sge = (struct ibv_sge){(uintptr_t)letter->bytes, POOL_MESSAGE, guest->mr->lkey};
	post(letter, &wr);
}

void server_client_sent(struct letter *letter, enum ibv_wc_status status)
{
	struct server_client *guest = letter->guest;

	give_letter(letter);
	guest->is_probing = false;
	if (status == IBV_WC_SUCCESS)
		guest->heard_ns = clock_now_ns();
	else
		server_client_leave(guest,
				    status == IBV_WC_WR_FLUSH_ERR ? NULL : verbs_hint(status));
}

void server_client_probe(struct server_client *guest, uint64_t now_ns)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = {guest->remote.address, guest->remote.rkey},
	};
	struct letter *letter;

	if (guest->is_leaving || guest->is_probing || now_ns - guest->heard_ns < QUIET_NS)
		return;
	letter = take_letter(guest);
	if (!letter)
		return;
	guest->is_probing = true;
	post(letter, &wr);
}

void server_client_unbound(struct server_client *guest, enum ibv_wc_status status)
{
	server_client_leave(guest, status == IBV_WC_WR_FLUSH_ERR ? NULL : verbs_hint(status));
}

/* reason: what it is here; the client hears what the status says. */
static void deny_for(struct server_client *guest, uint32_t type, enum pool_status status,
		     const char *reason)
{
	if (guest->is_leaving)
		return;
	report(guest, (struct pool_report){.event = POOL_DENIED, .reason = reason});
	answer(guest, &(struct pool_message){.type = type, .status = status});
}

static void deny(struct server_client *guest, uint32_t type, enum pool_status status)
{
	deny_for(guest, type, status, pool_status_text(status));
}

void server_client_expire(struct server_client *guest, uint64_t now_ns)
{
	uint64_t time_ns = guest->server->settings.time_ms * NS_PER_MS;

	if (!time_ns || guest->is_leaving || now_ns - guest->since_ns < time_ns)
		return;
	if (guest->is_expired) {
		server_client_leave(guest, NULL);
		return;
	}
	server_client_welcome(guest);
	guest->is_expired = true;
	deny(guest, POOL_REFUSED, POOL_TIME);
}

/* The answer is behind it on the same queue pair, and not sent where this fails. */
static int bind_window(struct server_client *guest, const struct grant *grant)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_BIND_MW,
		.bind_mw = {.mw = grant->mw,
			    .rkey = grant->rkey,
			    .bind_info = {grant->mr, (uintptr_t)grant->mr->addr, grant->mr->length,
					  IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ}},
	};
	struct ibv_send_wr *bad;

	return grant->mw ? verbs_result(ibv_post_send(guest->id->qp, &wr, &bad)) : 0;
}

static enum pool_status take_grant(struct server_client *guest, const struct pool_message *asked,
				   uint64_t left, struct grant **grant)
{
	struct grants *grants = &guest->server->grants;
	enum pool_status status = grants_take(grants, guest->pd, asked, left, grant);
	int code = status == POOL_OK ? bind_window(guest, *grant) : 0;

	if (!code)
		return status;
	error_set_errno(&grants->fault, code, "cannot bind a memory window");
	grants_leave(grants, *grant);
	return POOL_NO_REGION;
}

static void allocate(struct server_client *guest, const struct pool_message *asked)
{
	struct pool_message granted = {.type = POOL_RESP_ALLOC};
	struct grant *grant;
	struct pool_server *server = guest->server;
	uint64_t left =
		server->settings.share ? server->settings.share - guest->granted : UINT64_MAX;
	enum pool_status status = take_grant(guest, asked, left, &grant);

	if (status == POOL_NO_REGION) {
		deny_for(guest, POOL_RESP_ALLOC, status, server->grants.fault.text);
		return;
	}
	if (status != POOL_OK) {
		deny(guest, POOL_RESP_ALLOC, status);
		return;
	}
	grant->next = guest->grants;
	guest->grants = grant;
	granted.size = grant->mr->length;
	guest->granted += grants_taken_by(&server->grants, granted.size);
	granted.address = (uintptr_t)grant->mr->addr;
	granted.rkey = grant->rkey;
	granted.every = grant->every;
	report(guest, (struct pool_report){.event = POOL_GRANTED,
					   .size = granted.size,
					   .address = granted.address,
					   .rkey = granted.rkey});
	answer(guest, &granted);
}

/* The link of the grant that begins there, or holds that address. */
static struct grant **find_grant(struct server_client *guest, uint64_t address,
				 enum pool_status *status)
{
	struct grant **link = &guest->grants;

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

static void give_back(struct server_client *guest, const struct pool_message *asked)
{
	enum pool_status status;
	struct grant **link = find_grant(guest, asked->address, &status);
	struct grant *grant = *link;
	uint64_t size;

	if (!grant) {
		deny(guest, POOL_RESP_FREE, status);
		return;
	}
	size = grant->mr->length;
	*link = grant->next;
	if (grants_give(&guest->server->grants, grant)) {
		grant->next = *link;
		*link = grant;
		deny(guest, POOL_RESP_FREE, POOL_HELD);
		return;
	}
	guest->granted -= grants_taken_by(&guest->server->grants, size);
	report(guest,
	       (struct pool_report){.event = POOL_FREED, .size = size, .address = asked->address});
	answer(guest, &(struct pool_message){.type = POOL_RESP_FREE, .address = asked->address});
}

void server_client_hear(struct server_client *guest, const uint8_t *bytes, size_t length)
{
	struct pool_message asked;

	server_client_welcome(guest);
	if (guest->is_leaving || guest->is_expired)
		return;
	guest->heard_ns = clock_now_ns();
	if (pool_decode(&asked, bytes, length)) {
		deny(guest, POOL_REFUSED, POOL_MALFORMED);
		return;
	}
	switch (asked.type) {
	case POOL_REQ_ALLOC:
		allocate(guest, &asked);
		break;
	case POOL_REQ_FREE:
		give_back(guest, &asked);
		break;
	case POOL_REQ_SYNC:
		answer(guest, &(struct pool_message){.type = POOL_RESP_SYNC});
		break;
	default:
		deny(guest, POOL_REFUSED, POOL_MALFORMED);
		break;
	}
}

void server_client_ring(struct server_client *guest, uint32_t number)
{
	struct grant *grant = guest->grants;

	server_client_welcome(guest);
	if (guest->is_expired)
		return;
	guest->heard_ns = clock_now_ns();
	/* What it has rung before it left was written, and is complete at its end. */
	if (!grant || !grant->every || grant->mr->length < sizeof(uint32_t)) {
		deny(guest, POOL_REFUSED, POOL_NO_BELL);
	} else if (number != grant->rung + 1) {
		deny(guest, POOL_REFUSED, POOL_OUT_OF_TURN);
	} else {
		grant->rung = number;
		report(guest, (struct pool_report){.event = POOL_RUNG,
						   .number = number,
						   .value = grant_value(grant, number)});
	}
}
