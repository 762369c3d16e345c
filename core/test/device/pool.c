/* SPDX-License-Identifier: MIT */
/*
 * A pool and its clients in one process: the server receives what clients write to their
 * grants, and no client can access others' memory. VERBMARK_VISITS is the number of clients
 * that connect one after another (default 200).
 */
#include <stdlib.h>
#include <unistd.h>

#include "core/base/random.h"
#include "core/pool/memory_windows.h"
#include "core/pool/server_client.h"
#include "core/rdma/context.h"
#include "core/test/lib/check.h"
#include "core/test/lib/exempt.h"
#include "core/test/lib/pooled.h"

#define MANY  256
#define STRAY 77
#define TRIES 3
/* Number of clients that ring and leave, and doorbells of each. */
#define VISITORS 20
#define RINGS    8

static const enum rdma_wait_mode polling = RDMA_POLL;
static const enum rdma_wait_mode sleeping = RDMA_EVENT;

static enum rdma_wait_mode mode(void **state)
{
	return *(const enum rdma_wait_mode *)*state;
}

static void test_writes_and_doorbells(void **state)
{
	struct pool_client client;

	pooled_start(mode(state), 64, 0);
	pooled_client(&client);
	assert_int_equal(pool_client_size(&client), POOL_BYTES);
	pooled_allocate(&client, 10000, 16);
	pooled_ring(&client, 1000 * 16, 1);
	/* Several rounds through the slots, the last one incomplete. */
	pooled_release(&client, client.grant.address);
	pooled_allocate(&client, 10, 3);
	pooled_ring(&client, 31 * 3, 2);
	pool_client_close(&client);
	pooled_stop();
}

static void test_refusals(void **state)
{
	struct pool_client one;
	struct pool_client other;
	uint64_t place;

	pooled_start(mode(state), 64, 0);
	pooled_client(&one);
	pooled_client(&other);
	pooled_refused(&one, 0, POOL_ZERO);
	pooled_refused(&one, POOL_BYTES + 1, POOL_TOO_LARGE);
	pooled_refused(&one, UINT64_MAX, POOL_TOO_LARGE);
	pooled_allocate(&one, 10000, 1);
	place = one.grant.address;
	pooled_refused(&other, POOL_BYTES - 4 * PAGE_BYTES + 2 * PAGE_BYTES, POOL_EXHAUSTED);
	pooled_not_freed(&other, place, POOL_NO_GRANT);
	pooled_not_freed(&one, 0, POOL_NO_GRANT);
	pooled_not_freed(&one, place + 1, POOL_INSIDE);
	pooled_not_freed(&one, place + 9999, POOL_INSIDE);
	pooled_not_freed(&one, place + 10000, POOL_NO_GRANT);
	pooled_release(&one, place);
	pooled_not_freed(&one, place, POOL_NO_GRANT);
	/* Both clients can continue. */
	pooled_allocate(&one, POOL_BYTES, 1);
	pooled_refused(&other, 1, POOL_EXHAUSTED);
	pooled_release(&one, one.grant.address);
	pooled_allocate(&other, 1 << 16, 1);
	pooled_ring(&other, 10, 3);
	pool_client_close(&one);
	pool_client_close(&other);
	pooled_stop();
}

/* The share is counted in whole pages; the pool itself is large enough. */
static void test_share(void **state)
{
	struct pool_client one;
	struct pool_client other;
	uint64_t first;

	pooled_start(mode(state), 64, 4 * PAGE_BYTES);
	pooled_client(&one);
	pooled_client(&other);
	pooled_refused(&one, 4 * PAGE_BYTES + 1, POOL_SHARE);
	pooled_refused(&one, POOL_BYTES + 1, POOL_TOO_LARGE);
	pooled_allocate(&one, 1, 1);
	first = one.grant.address;
	pooled_refused(&one, 3 * PAGE_BYTES + 1, POOL_SHARE);
	pooled_allocate(&one, 2 * PAGE_BYTES + 1, 1);
	pooled_refused(&one, 1, POOL_SHARE);
	/* Each client has its own share, and gets returned memory back. */
	pooled_allocate(&other, 4 * PAGE_BYTES, 1);
	pooled_release(&one, first);
	pooled_allocate(&one, PAGE_BYTES, 1);
	pooled_refused(&one, 1, POOL_SHARE);
	pooled_ring(&one, 10, 6);
	pool_client_close(&one);
	pool_client_close(&other);
	pooled_stop();
}

static void test_fragments(void **state)
{
	static uint64_t places[POOL_BYTES / PAGE_BYTES];
	struct pool_client client;

	pooled_start(mode(state), 64, 0);
	pooled_client(&client);
	for (size_t i = 0; i < ARRAY_LENGTH(places); i++) {
		pooled_allocate(&client, i % 2 ? PAGE_BYTES : 1, 0);
		places[i] = client.grant.address;
	}
	pooled_refused(&client, 1, POOL_EXHAUSTED);
	for (size_t i = 0; i < ARRAY_LENGTH(places); i += 2)
		pooled_release(&client, places[i]);
	/* Half of the pool is free, but no two adjacent pages. */
	pooled_refused(&client, PAGE_BYTES + 1, POOL_EXHAUSTED);
	pooled_release(&client, places[1]);
	pooled_allocate(&client, 3 * PAGE_BYTES, 1);
	assert_int_equal(client.grant.address, places[0]);
	pool_client_close(&client);
	pooled_stop();
}

static int post_stray(struct pool_client *client, enum post_operation operation, uint64_t place,
		      uint32_t rkey, uint32_t length)
{
	struct post_work work = {
		.id = STRAY,
		.remote = place,
		.rkey = rkey,
		.n_sges = length != 0,
		.sges = {{(uintptr_t)client->context.buffer, length, client->context.mr->lkey}},
	};
	const struct post_queue *queue = context_queue(&client->context);

	/*
	 * Count the doorbell, as pool_client_write does for a grant in which every write
	 * rings.
	 */
	if (operation == POST_WRITE_IMM) {
		work.imm = ++client->rung;
		client->written++;
	}
	if (operation == POST_WRITE)
		return post_send(queue, &work, POST_WRITE, POST_CLASSIC, IBV_SEND_SIGNALED);
	if (operation == POST_READ)
		return post_send(queue, &work, POST_READ, POST_CLASSIC, IBV_SEND_SIGNALED);
	return post_send(queue, &work, POST_WRITE_IMM, POST_CLASSIC, IBV_SEND_SIGNALED);
}

/* Waits for the stray request, ignoring other completions. */
static enum ibv_wc_status take_stray(struct pool_client *client)
{
	uint64_t deadline = clock_deadline(PATIENCE_MS);
	struct ibv_wc wc = {0};

	while (clock_now_ns() < deadline)
		if (ibv_poll_cq(client->context.cq, 1, &wc) == 1 && wc.wr_id == STRAY)
			return wc.status;
	fail_msg("no completion");
	return 0;
}

/*
 * Executes a stray request from a separate client, whose connection the request may break.
 * place is an address or, if rkey is 0, an offset from the client's own grant. Retries if a
 * busy machine does not answer.
 */
static enum ibv_wc_status try_stray(enum post_operation operation, uint64_t place, uint32_t rkey,
				    uint32_t length)
{
	enum ibv_wc_status status = IBV_WC_RETRY_EXC_ERR;

	for (int i = 0; i < TRIES && status == IBV_WC_RETRY_EXC_ERR; i++) {
		struct pool_client client;

		pooled_client(&client);
		pooled_allocate(&client, 10000, 1);
		assert_int_equal(post_stray(&client, operation,
					    rkey ? place : client.grant.address + place,
					    rkey ? rkey : client.grant.rkey, length),
				 0);
		status = take_stray(&client);
		pool_client_close(&client);
	}
	return status;
}

static void check_closed(uint64_t place, uint32_t rkey, uint32_t length)
{
	static const enum post_operation operations[] = {POST_WRITE, POST_READ, POST_WRITE_IMM};

	for (size_t i = 0; i < ARRAY_LENGTH(operations); i++)
		assert_int_equal(try_stray(operations[i], place, rkey, length),
				 IBV_WC_REM_ACCESS_ERR);
}

/* Returns the key of the region under the only grant's window, or 0 if there are no windows. */
static uint32_t region_key(void)
{
	const struct ibv_mr *mr = pooled_server.clients->grants->mr;

	/* If it has no remote key, try the local one. */
	return !pooled_server.grants.has_windows ? 0 : mr->rkey ? mr->rkey : mr->lkey;
}

/* Writes with the client's own key, at an offset from its grant. */
static void check_own_key(int64_t offset, uint32_t length, enum ibv_wc_status wanted)
{
	assert_int_equal(try_stray(POST_WRITE, (uint64_t)offset, 0, length), wanted);
}

static void test_access_is_limited_to_own_grants(void **state)
{
	struct pool_client owner;
	uint64_t place;
	uint32_t rkey;
	uint32_t region_rkey;

	pooled_start(mode(state), 64, 0);
	pooled_client(&owner);
	pooled_allocate(&owner, 10000, 2);
	place = owner.grant.address;
	rkey = owner.grant.rkey;
	region_rkey = region_key();
	/* Bounds are exact to the byte. */
	check_own_key(0, 10000, IBV_WC_SUCCESS);
	check_own_key(9996, 4, IBV_WC_SUCCESS);
	check_own_key(9997, 4, IBV_WC_REM_ACCESS_ERR);
	check_own_key(-1, 4, IBV_WC_REM_ACCESS_ERR);
	check_own_key(10000, 1, IBV_WC_REM_ACCESS_ERR);
	check_own_key(0, 10001, IBV_WC_REM_ACCESS_ERR);
	/* Another client's memory, with its key and with a wrong one. */
	check_closed(place, rkey, 4);
	check_closed(place, rkey + 1, 4);
	if (region_rkey)
		check_closed(place, region_rkey, 4);
	pooled_ring(&owner, 100, 4);
	/* Memory that was returned. */
	pooled_release(&owner, place);
	check_closed(place, rkey, 4);
	pooled_allocate(&owner, 10000, 2);
	pooled_ring(&owner, 100, 5);
	assert_int_equal(post_stray(&owner, POST_WRITE, place, rkey, 4), 0);
	assert_int_equal(take_stray(&owner), IBV_WC_REM_ACCESS_ERR);
	pool_client_close(&owner);
	pooled_stop();
}

/* Memory windows isolate clients that share a domain. */
static void test_windows(void **state)
{
	struct error error = {0};
	int code;

	pooled_start(mode(state), 64, 0);
	code = memory_windows_check(pooled_server.device.verbs, pooled_server.device_port, &error);
	assert_int_equal(code, 0);
	pooled_stop();
}

/* Sends raw bytes, from memory that the client's own requests do not use. */
static void send_bytes(struct pool_client *client, const uint8_t *bytes, uint32_t length,
		       unsigned int signaled)
{
	char *place = client->context.buffer + 256;
	struct post_work work = {
		.id = STRAY,
		.n_sges = 1,
		.sges = {{(uintptr_t)place, length, client->context.mr->lkey}},
	};

	memcpy(place, bytes, length);
	assert_int_equal(post_send(context_queue(&client->context), &work, POST_SEND, POST_CLASSIC,
				   signaled),
			 0);
}

/* The client gets the error instead of an answer. */
static void check_malformed(const uint8_t *bytes, uint32_t length)
{
	struct error error = {0};
	struct pool_client client;

	pooled_client(&client);
	send_bytes(&client, bytes, length, 0);
	assert_int_equal(pool_client_sync(&client, &error), -EACCES);
	assert_contains(error.text, pool_status_text(POOL_MALFORMED));
	pool_client_close(&client);
}

static void test_malformed_messages(void **state)
{
	uint8_t bytes[POOL_MESSAGE + 1] = {[3] = 9};
	struct pool_client client;
	struct pool_client other;

	pooled_start(mode(state), 64, 0);
	check_malformed(bytes, POOL_MESSAGE);
	check_malformed(bytes, 1);
	check_malformed(bytes, POOL_MESSAGE - 1);
	bytes[3] = POOL_REQ_SYNC;
	bytes[POOL_MESSAGE - 1] = 1;
	check_malformed(bytes, POOL_MESSAGE);
	/* A message that is too long ends its own connection only. */
	pooled_client(&other);
	pooled_allocate(&other, PAGE_BYTES, 1);
	pooled_client(&client);
	send_bytes(&client, bytes, POOL_MESSAGE + 1, IBV_SEND_SIGNALED);
	assert_int_not_equal(take_stray(&client), IBV_WC_SUCCESS);
	pooled_ring(&other, 10, 7);
	pool_client_close(&client);
	pool_client_close(&other);
	pooled_stop();
}

/* Rings a doorbell without writing any bytes. */
static void ring_without_a_grant(struct pool_client *client)
{
	struct post_work work = {.id = STRAY, .imm = 1};

	assert_int_equal(
		post_send(context_queue(&client->context), &work, POST_WRITE_IMM, POST_CLASSIC, 0),
		0);
}

static void check_no_bell(struct pool_client *client)
{
	struct error error = {0};

	ring_without_a_grant(client);
	assert_int_equal(pool_client_sync(client, &error), -EACCES);
	assert_contains(error.text, pool_status_text(POOL_NO_BELL));
}

/* An unsolicited refusal is reported by the call after the one that received it. */
static void check_refusal_is_kept(struct pool_client *client)
{
	struct error error = {0};

	ring_without_a_grant(client);
	pooled_allocate(client, PAGE_BYTES, 1);
	assert_int_equal(pool_client_free(client, client->grant.address, &error), -EACCES);
	assert_contains(error.text, pool_status_text(POOL_NO_BELL));
	pooled_ring(client, 10, 8);
	pooled_release(client, client->grant.address);
}

/* A doorbell out of order is rejected, and the client may continue. */
static void test_doorbell_out_of_order(void **state)
{
	struct error error = {0};
	struct pool_client client;

	pooled_start(mode(state), 64, 0);
	pooled_client(&client);
	pooled_allocate(&client, PAGE_BYTES, 1);
	pooled_ring(&client, 10, 3);
	for (uint32_t last = 8; last <= 10; last++) {
		client.rung = last;
		assert_int_equal(post_stray(&client, POST_WRITE_IMM, client.grant.address,
					    client.grant.rkey, 4),
				 0);
		/* 9 and 10 have been rung before, and 11 is next. */
		assert_int_equal(pool_client_sync(&client, &error), last == 10 ? 0 : -EACCES);
	}
	assert_contains(error.text, pool_status_text(POOL_OUT_OF_TURN));
	assert_int_equal(pooled_count(POOL_RUNG), 11);
	client.rung = 99;
	assert_int_equal(
		post_stray(&client, POST_WRITE_IMM, client.grant.address, client.grant.rkey, 4), 0);
	assert_int_equal(pool_client_sync(&client, &error), -EACCES);
	assert_int_equal(pooled_count(POOL_RUNG), 11);
	client.rung = 11;
	client.written = 11;
	pooled_ring(&client, 10, 4);
	pool_client_close(&client);
	pooled_stop();
}

/* A doorbell without a grant, or with a grant too small for a value. */
static void test_doorbell_without_a_grant(void **state)
{
	struct error error = {0};
	struct pool_client client;

	pooled_start(mode(state), 64, 0);
	pooled_client(&client);
	check_no_bell(&client);
	check_refusal_is_kept(&client);
	pool_client_close(&client);
	pooled_client(&client);
	pooled_allocate(&client, 3, 1);
	assert_int_equal(pool_client_write(&client, 1, &error), -EINVAL);
	check_no_bell(&client);
	pool_client_close(&client);
	pooled_stop();
}

static void test_many_clients(void **state)
{
	static struct pool_client clients[MANY];

	pooled_start(mode(state), 1024, 0);
	for (size_t i = 0; i < MANY; i++) {
		pooled_client(&clients[i]);
		pooled_allocate(&clients[i], 1 + i * 40, 4);
	}
	for (size_t i = 1; i < MANY; i++)
		pooled_ring(&clients[i], 8, i);
	assert_int_equal(pooled_count(POOL_DENIED), 0);
	/* Close them in a different order. */
	for (size_t i = 0; i < MANY; i++)
		pool_client_close(&clients[i * 77 % MANY]);
	pooled_stop();
}

/* The server may notice only later that a previous client has left, and free its memory then. */
static void allocate_with_retries(struct pool_client *client, uint64_t size)
{
	struct error error = {0};
	int code = pool_client_alloc(client, size, 1, &error);

	for (int i = 0; i < 500 && code && client->answer.status == POOL_EXHAUSTED; i++) {
		usleep(10000);
		error = (struct error){0};
		code = pool_client_alloc(client, size, 1, &error);
	}
	if (code)
		fail_msg("%s", error.text);
}

static void test_successive_clients(void **state)
{
	const char *asked = getenv("VERBMARK_VISITS");
	unsigned int visits = asked ? (unsigned int)atoi(asked) : 200;

	pooled_start(mode(state), 64, 0);
	for (unsigned int i = 0; i < visits; i++) {
		struct pool_client client;

		pooled_client(&client);
		allocate_with_retries(&client, 1 + random_mix(i) % (1 << 16));
		/* Some clients return their memory first. */
		if (i % 3 == 1)
			pooled_release(&client, client.grant.address);
		pool_client_close(&client);
	}
	pooled_stop();
}

/*
 * More doorbells arrive at once than the server handles: the device reports that receives
 * run low, the reserve is posted, and nothing is lost.
 */
static void test_low_water(void **state)
{
	struct pool_client clients[8];

	pooled_start(mode(state), 16, 0);
	for (size_t i = 0; i < ARRAY_LENGTH(clients); i++) {
		pooled_client(&clients[i]);
		pooled_allocate(&clients[i], PAGE_BYTES, 1);
	}
	/* Block the server in its first report. */
	pooled_hold();
	for (size_t i = 0; i < 2 * ARRAY_LENGTH(clients); i++) {
		struct pool_client *client = &clients[i / 2];

		assert_int_equal(post_stray(client, POST_WRITE_IMM, client->grant.address,
					    client->grant.rkey, 4),
				 0);
	}
	usleep(200000);
	pooled_let_go();
	for (size_t i = 0; i < 2 * ARRAY_LENGTH(clients); i++)
		assert_int_equal(take_stray(&clients[i / 2]), IBV_WC_SUCCESS);
	pooled_wait_for(POOL_RUNG, 2 * ARRAY_LENGTH(clients));
	for (size_t i = 0; i < ARRAY_LENGTH(clients); i++) {
		pooled_ring(&clients[i], 10, i);
		pool_client_close(&clients[i]);
	}
	pooled_wait_for(POOL_WENT, ARRAY_LENGTH(clients));
	assert_true(pooled_server.mailbox.n_low > 0);
	pooled_stop();
}

/* Completed doorbells count, even if the client leaves right after them. */
static void test_doorbells_of_a_leaving_client(void **state)
{
	pooled_start(mode(state), 64, 0);
	for (unsigned int i = 0; i < VISITORS; i++) {
		struct pool_client client;

		pooled_client(&client);
		pooled_allocate(&client, PAGE_BYTES, 1);
		for (unsigned int j = 0; j < RINGS; j++)
			assert_int_equal(post_stray(&client, POST_WRITE_IMM, client.grant.address,
						    client.grant.rkey, 4),
					 0);
		for (unsigned int j = 0; j < RINGS; j++)
			assert_int_equal(take_stray(&client), IBV_WC_SUCCESS);
		pool_client_close(&client);
	}
	pooled_wait_for(POOL_WENT, VISITORS);
	assert_int_equal(pooled_count(POOL_RUNG), VISITORS * RINGS);
	pooled_stop();
}

/* A client that sends requests without receiving the answers is disconnected. */
static void test_client_that_receives_no_answers(void **state)
{
	struct pool_client other;
	struct pool_client client;

	pooled_start(mode(state), 64, 0);
	pooled_client(&client);
	pooled_client(&other);
	pooled_allocate(&other, PAGE_BYTES, 1);
	for (int i = 0; i < 40; i++)
		if (post_stray(&client, POST_WRITE_IMM, 0, 0, 0))
			break;
	pooled_wait_for(POOL_WENT, 1);
	pooled_ring(&other, 10, 6);
	pool_client_close(&client);
	pool_client_close(&other);
	pooled_stop();
}

#define WITH(test, how)                                                                   \
	{                                                                                 \
		.name = #test " " #how, .test_func = (test), .teardown_func = pooled_end, \
		.initial_state = (void *)(uintptr_t) & (how)                              \
	}

int main(void)
{
	struct CMUnitTest tests[] = {
		WITH(test_writes_and_doorbells, polling),
		WITH(test_writes_and_doorbells, sleeping),
		WITH(test_refusals, polling),
		WITH(test_refusals, sleeping),
		WITH(test_share, polling),
		WITH(test_share, sleeping),
		WITH(test_fragments, sleeping),
		WITH(test_access_is_limited_to_own_grants, polling),
		WITH(test_access_is_limited_to_own_grants, sleeping),
		WITH(test_windows, sleeping),
		WITH(test_malformed_messages, polling),
		WITH(test_malformed_messages, sleeping),
		WITH(test_doorbell_out_of_order, polling),
		WITH(test_doorbell_out_of_order, sleeping),
		WITH(test_doorbell_without_a_grant, polling),
		WITH(test_doorbell_without_a_grant, sleeping),
		WITH(test_many_clients, polling),
		WITH(test_many_clients, sleeping),
		WITH(test_successive_clients, sleeping),
		WITH(test_low_water, polling),
		WITH(test_low_water, sleeping),
		WITH(test_client_that_receives_no_answers, sleeping),
		WITH(test_doorbells_of_a_leaving_client, polling),
		WITH(test_doorbells_of_a_leaving_client, sleeping),
	};
	int left = exempt(tests, ARRAY_LENGTH(tests));

	if (left < 0)
		return 1;
	return _cmocka_run_group_tests("rxe_pool", tests, (size_t)left, NULL, NULL);
}
