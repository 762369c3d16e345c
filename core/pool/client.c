/* SPDX-License-Identifier: MIT */
#include "core/pool/client.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/pool/grants.h"
#include "core/rdma/context.h"
#include "core/verbs/verbs.h"

/* Writes per completion; the send queue holds twice as many. */
#define UNSIGNALED 128UL
#define SLOTS      (2 * UNSIGNALED)
#define TIMEOUT_NS (5 * NS_PER_S)
/* Bytes of a grant that a busy server clears within a second. */
#define A_SECOND (256U << 20)

/* Offsets in the buffer: the message sent, the message received, and the values in flight. */
enum {
	SENT_AT = 0,
	RECEIVED_AT = 64,
	SLOTS_AT = 128,
};

enum {
	RECEIVE_ID = 1,
	SEND_ID,
	WRITE_ID,
};

static const char *const works[] = {
	[RECEIVE_ID] = "receive of an answer",
	[SEND_ID] = "send of a request",
	[WRITE_ID] = "write",
};

static int set_reason(const struct pool_client *client, struct error *error)
{
	return error_set(error, client->context.code, "%s", client->context.reason);
}

static struct ibv_sge piece(const struct pool_client *client, size_t at, size_t length)
{
	return (struct ibv_sge){.addr = (uintptr_t)client->context.buffer + at,
				.length = (uint32_t)length,
				.lkey = client->context.mr->lkey};
}

static int post_answer(struct pool_client *client, struct error *error)
{
	struct post_work work = {
		.id = RECEIVE_ID,
		.n_sges = 1,
		.sges = {piece(client, RECEIVED_AT, POOL_MESSAGE)},
	};
	int code = verbs_result(post_receive(context_queue(&client->context), &work));

	return code ? error_set_errno(error, code, "cannot post a receive") : 0;
}

static size_t own_size(const struct pool_client_settings *settings)
{
	size_t needed = SLOTS_AT + SLOTS * sizeof(uint32_t);

	return settings->own_size > needed ? settings->own_size : needed;
}

int pool_client_open(struct pool_client *client, const struct pool_client_settings *settings,
		     struct error *error)
{
	int code;

	*client = (struct pool_client){
		.context =
			{
				  .buffer_size = own_size(settings),
				  .cq_notify = (int)settings->wait,
				  .settings = {.send_depth = (uint32_t)SLOTS, .own_receives = true},
				  },
	};
	code = rdma_setup_client(&client->context, settings->host, settings->port,
				 settings->device);
	if (code)
		return set_reason(client, error);
	/* An answer may arrive as soon as the connection is established. */
	code = post_answer(client, error);
	if (!code && rdma_connect_server(&client->context))
		code = set_reason(client, error);
	if (!code && (client->context.remote.rkey || !client->context.remote.size))
		code = error_set(error, -EPROTO, "%s port %u is a verbmark server, but not a pool",
				 settings->host, settings->port);
	if (code)
		pool_client_close(client);
	return code;
}

int pool_client_close(struct pool_client *client)
{
	int code = rdma_close(&client->context);

	*client = (struct pool_client){0};
	return code;
}

uint64_t pool_client_size(const struct pool_client *client)
{
	return client->context.remote.size;
}

/* An unsolicited refusal is not the answer to the current request. */
static int take_answer(struct pool_client *client, const struct ibv_wc *wc, struct error *error)
{
	const uint8_t *bytes = (const uint8_t *)client->context.buffer + RECEIVED_AT;
	struct pool_message message;

	if (pool_decode(&message, bytes, wc->byte_len) ||
	    (message.type == POOL_REFUSED ? !message.status : client->has_answer))
		return error_set(error, -EPROTO, "the server sent an invalid message");
	if (message.type == POOL_REFUSED) {
		client->refusal = message.status;
	} else {
		client->answer = message;
		client->has_answer = true;
	}
	return post_answer(client, error);
}

/* After a flush, the alarm has the reason why the connection ended. */
static int fail(struct pool_client *client, const struct ibv_wc *wc, struct error *error)
{
	struct alarm *alarm = context_alarm(&client->context);

	if (wc->status == IBV_WC_WR_FLUSH_ERR && alarm_raised(alarm))
		return alarm_reason(alarm, error);
	return verbs_completion_error(error, works[wc->wr_id], wc);
}

static int step(struct pool_client *client, struct error *error)
{
	uint64_t most_ns = TIMEOUT_NS + pool_client_size(client) / A_SECOND * NS_PER_S;
	struct ibv_wc wc;
	int got = completion_wait(context_completion(&client->context), 1, &wc, most_ns, error);

	if (got == -ETIMEDOUT)
		return error_set(error, got, "the server has not answered for %.3g s",
				 (double)most_ns / 1e9);
	if (got < 0)
		return got;
	if (wc.status != IBV_WC_SUCCESS)
		return fail(client, &wc, error);
	if (wc.wr_id == RECEIVE_ID)
		return take_answer(client, &wc, error);
	if (wc.wr_id == SEND_ID)
		client->is_sending = false;
	else
		client->is_writing = false;
	return 0;
}

/* Each refusal is reported once. */
static int check_unasked(struct pool_client *client, struct error *error)
{
	uint32_t refusal = client->refusal;

	client->refusal = POOL_OK;
	return refusal ? error_set(error, -EACCES, "the server refused: %s",
				   pool_status_text(refusal))
		       : 0;
}

/* Takes a refusal that arrived together with the end of the connection. */
static void take_refusal(struct pool_client *client)
{
	struct error ignored = {0};
	struct ibv_wc wc;

	while (!client->refusal &&
	       completion_poll(context_completion(&client->context), 1, &wc) > 0)
		if (wc.status == IBV_WC_SUCCESS && wc.wr_id == RECEIVE_ID)
			take_answer(client, &wc, &ignored);
}

/* If the server said why it ended the connection, report that instead. */
static int lose(struct pool_client *client, struct error *error)
{
	take_refusal(client);
	if (!client->refusal)
		return error->code;
	*error = (struct error){0};
	return check_unasked(client, error);
}

static int send_request(struct pool_client *client, const struct pool_message *request,
			struct error *error)
{
	struct post_work work = {
		.id = SEND_ID,
		.n_sges = 1,
		.sges = {piece(client, SENT_AT, POOL_MESSAGE)},
	};
	int code;

	pool_encode(request, (uint8_t *)client->context.buffer + SENT_AT);
	code = verbs_result(post_send(context_queue(&client->context), &work, POST_SEND,
				      POST_CLASSIC, IBV_SEND_SIGNALED));
	client->is_sending = !code;
	/* It completes only after all earlier writes. */
	client->n_unsignaled = 0;
	return code ? error_set_errno(error, code, "cannot post a request") : 0;
}

/* Sends a request and waits for the answer. */
static int ask(struct pool_client *client, const struct pool_message *request, struct error *error)
{
	int code = check_unasked(client, error);

	if (!code)
		code = send_request(client, request, error);
	while (!code && (client->is_sending || !client->has_answer))
		code = step(client, error);
	if (code)
		return lose(client, error);
	client->has_answer = false;
	if (client->answer.status)
		return error_set(error, -EACCES, "the server refused: %s",
				 pool_status_text(client->answer.status));
	if (client->answer.type != request->type + 1)
		return error_set(error, -EPROTO, "the server answered a different request");
	return 0;
}

int pool_client_alloc(struct pool_client *client, uint64_t size, uint32_t every,
		      struct error *error)
{
	const struct pool_message request = {.type = POOL_REQ_ALLOC, .size = size, .every = every};
	int code = ask(client, &request, error);

	if (code)
		return code;
	if (client->answer.size != size || client->answer.address + size < size)
		return error_set(error, -EPROTO, "the server sent an invalid grant");
	client->grant = client->answer;
	client->grant.every = every;
	client->written = 0;
	client->rung = 0;
	return 0;
}

int pool_client_free(struct pool_client *client, uint64_t address, struct error *error)
{
	const struct pool_message request = {.type = POOL_REQ_FREE, .address = address};
	int code = ask(client, &request, error);

	if (!code && address == client->grant.address)
		client->grant = (struct pool_message){0};
	return code;
}

int pool_client_sync(struct pool_client *client, struct error *error)
{
	const struct pool_message request = {.type = POOL_REQ_SYNC};
	int code = ask(client, &request, error);

	/* Refusals of earlier doorbells arrive before this answer. */
	return code ? code : check_unasked(client, error);
}

/*
 * Posts a write with the number of its doorbell, or 0. Its value stays in the buffer until
 * the write is complete.
 */
static int post(struct pool_client *client, uint32_t value, uint32_t bell, struct error *error)
{
	size_t at = SLOTS_AT + sizeof(value) * (client->written % SLOTS);
	bool is_signaled = bell || client->n_unsignaled + 1 == UNSIGNALED;
	struct post_work work = {
		.id = WRITE_ID,
		.remote = client->grant.address +
			  grant_slot(client->grant.size, client->written) * sizeof(value),
		.rkey = client->grant.rkey,
		.imm = bell,
		.n_sges = 1,
		.sges = {piece(client, at, sizeof(value))},
	};
	const struct post_queue *queue = context_queue(&client->context);
	unsigned int signaled = is_signaled ? IBV_SEND_SIGNALED : 0;
	int code;

	value = htobe32(value);
	memcpy(client->context.buffer + at, &value, sizeof(value));
	code = verbs_result(bell ? post_send(queue, &work, POST_WRITE_IMM, POST_CLASSIC, signaled)
				 : post_send(queue, &work, POST_WRITE, POST_CLASSIC, signaled));
	client->is_writing = is_signaled && !code;
	client->n_unsignaled = is_signaled ? 0 : client->n_unsignaled + 1;
	return code ? error_set_errno(error, code, "cannot post a write") : 0;
}

int pool_client_write(struct pool_client *client, uint32_t value, struct error *error)
{
	uint32_t every = client->grant.every;
	bool is_bell = every && (client->written + 1) % every == 0;
	int code = 0;

	if (client->grant.size < sizeof(value))
		return error_set(error, -EINVAL,
				 "a value needs 4 bytes, but the size of the grant is %" PRIu64,
				 client->grant.size);
	if (is_bell && client->rung == UINT32_MAX)
		return error_set(error, -EOVERFLOW,
				 "all doorbell numbers are used; request another grant");
	if (client->written && !grant_slot(client->grant.size, client->written))
		code = pool_client_sync(client, error);
	if (!code)
		code = post(client, value, is_bell ? client->rung + 1 : 0, error);
	while (!code && client->is_writing)
		code = step(client, error);
	if (code)
		return lose(client, error);
	client->written++;
	client->rung += is_bell;
	return check_unasked(client, error);
}
