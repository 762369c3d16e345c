/* SPDX-License-Identifier: MIT */
/*
 * The link model. These tests have no upper time limits, which would depend on the machine. But
 * nothing may happen sooner than the link allows.
 */
#include <poll.h>
#include <stdlib.h>

#include "core/base/compiler.h"
#include "core/soft/link/settings.h"
#include "core/soft/op/cq.h"
#include "core/soft/peer/process.h"
#include "core/soft/time.h"
#include "core/test/soft/stage.h"

#define MS UINT64_C(1000000)

enum {
	MANY = 200,
	PATIENCE_MS = 20000,
};

static void open_link(struct stage *stage, const char *link, const struct stage_ways *ways)
{
	assert_int_equal(setenv(SOFT_LINK_VARIABLE, link, 1), 0);
	stage_open(stage, ways);
	memset(stage->end[0].buffer, 1, 16384);
}

static struct ibv_send_wr request(const struct stage *stage, enum ibv_wr_opcode opcode)
{
	struct ibv_send_wr wr = {.opcode = opcode, .send_flags = IBV_SEND_SIGNALED};

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = (uintptr_t)stage->end[1].buffer;
		wr.wr.atomic.rkey = stage->mr->rkey;
	} else {
		wr.wr.rdma.remote_addr = (uintptr_t)stage->end[1].buffer;
		wr.wr.rdma.rkey = stage->mr->rkey;
	}
	return wr;
}

static void post(struct stage *stage, enum ibv_wr_opcode opcode, uint32_t length)
{
	struct ibv_send_wr wr = request(stage, opcode);

	if (opcode == IBV_WR_SEND || opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		stage_receive(stage, 16384, 0);
	assert_int_equal(stage_post(stage, &wr, length), 0);
}

static void await_success(struct ibv_cq *cq)
{
	assert_int_equal(stage_await(cq).status, IBV_WC_SUCCESS);
}

/* 8000 bytes at 1 Mb/s take 64 ms; each direction takes 5 ms. */
static void test_nothing_is_early(void **unused)
{
	static const struct {
		enum ibv_wr_opcode opcode;
		uint32_t length;
		uint64_t there_ms; /* completion at the target; 0: none */
		uint64_t back_ms;  /* completion at the requester */
	} rows[] = {
		{IBV_WR_SEND,                 8000, 69, 74},
		{IBV_WR_RDMA_WRITE_WITH_IMM,  8000, 69, 74},
		{IBV_WR_RDMA_WRITE,           8000, 0,  74},
		{IBV_WR_RDMA_READ,            8000, 0,  74},
		{IBV_WR_ATOMIC_FETCH_AND_ADD, 8,    0,  10},
		{IBV_WR_SEND,                 0,    5,  10},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct stage stage;
		uint64_t begin_ns;

		open_link(&stage, "latency=5ms,bandwidth=1mbit", &(struct stage_ways){0});
		begin_ns = soft_time_ns();
		post(&stage, rows[i].opcode, rows[i].length);
		if (rows[i].there_ms) {
			await_success(stage.end[1].cq);
			assert_true(soft_time_ns() - begin_ns >= rows[i].there_ms * MS);
		}
		await_success(stage.end[0].cq);
		assert_true(soft_time_ns() - begin_ns >= rows[i].back_ms * MS);
		stage_close(&stage);
	}
}

/*
 * All queue pairs of a process share its bandwidth: empty messages and READ requests queue behind
 * the messages of other queue pairs, too.
 */
static void test_shared_bandwidth(void **unused)
{
	static const struct {
		enum ibv_wr_opcode opcode;
		uint32_t length;
		uint64_t least_ms;
	} rows[] = {
		{IBV_WR_RDMA_WRITE, 2000, 32},
		{IBV_WR_RDMA_WRITE, 0,    16},
		{IBV_WR_RDMA_READ,  2000, 32},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct stage stage;
		uint64_t begin_ns;
		struct ibv_sge sge;
		struct ibv_send_wr wr;
		struct ibv_send_wr *bad;

		open_link(&stage, "bandwidth=1mbit", &(struct stage_ways){0});
		begin_ns = soft_time_ns();
		post(&stage, IBV_WR_RDMA_WRITE, 2000);
		sge = (struct ibv_sge){(uintptr_t)stage.end[1].buffer + 4096, rows[i].length,
				       stage.mr->lkey};
		wr = request(&stage, rows[i].opcode);
		wr.sg_list = &sge;
		wr.num_sge = rows[i].length > 0;
		wr.wr.rdma.remote_addr = (uintptr_t)stage.end[0].buffer + 4096;
		assert_int_equal(ibv_post_send(stage.end[1].qp, &wr, &bad), 0);
		await_success(stage.end[1].cq);
		assert_true(soft_time_ns() - begin_ns >= rows[i].least_ms * MS);
		await_success(stage.end[0].cq);
		stage_close(&stage);
	}
}

/* The service thread carries out the first kind of write, the post itself the second. */
static void test_write_is_not_visible_early(void **unused)
{
	static const struct {
		const char *link;
		uint64_t latency_ns;
		int rounds;
	} rows[] = {
		{"latency=10ms", 10 * MS, 3 },
                {"latency=10us", 10000,   50}
        };

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct stage stage;
		unsigned char *byte;

		open_link(&stage, rows[i].link, &(struct stage_ways){.type = IBV_QPT_UC});
		byte = stage.end[1].buffer + 63;
		for (int round = 0; round < rows[i].rounds; round++) {
			uint64_t begin_ns = soft_time_ns();

			*byte = 0;
			post(&stage, IBV_WR_RDMA_WRITE, 64);
			while (!__atomic_load_n(byte, __ATOMIC_ACQUIRE))
				;
			assert_true(soft_time_ns() - begin_ns >= rows[i].latency_ns);
			await_success(stage.end[0].cq);
		}
		stage_close(&stage);
	}
}

/* The completion is in the queue from the post on, but cannot be polled yet. */
static void test_message_is_not_polled_early(void **unused)
{
	struct stage stage;

	open_link(&stage, "latency=90us", &(struct stage_ways){0});
	for (int round = 0; round < 50; round++) {
		uint64_t begin_ns = soft_time_ns();

		post(&stage, IBV_WR_SEND, 8);
		await_success(stage.end[1].cq);
		assert_true(soft_time_ns() - begin_ns >= 90000);
		await_success(stage.end[0].cq);
		assert_true(soft_time_ns() - begin_ns >= 180000);
	}
	stage_close(&stage);
}

static void await_event(struct stage *stage)
{
	struct pollfd readable = {.fd = stage->channel->fd, .events = POLLIN};
	struct ibv_cq *cq;
	void *context;

	assert_int_equal(poll(&readable, 1, PATIENCE_MS), 1);
	assert_int_equal(ibv_get_cq_event(stage->channel, &cq, &context), 0);
	ibv_ack_cq_events(cq, 1);
}

/* The queue is armed before or after the post, and no thread polls. */
static void test_events(void **unused)
{
	static const struct {
		const char *link;
		uint64_t latency_ns;
	} rows[] = {
		{"latency=80us", 80000 },
                {"latency=5ms",  5 * MS}
        };

	for (int i = 0; i < 40; i++) {
		struct stage stage;
		uint64_t begin_ns;

		open_link(&stage, rows[i % 2].link, &(struct stage_ways){0});
		if (i & 2)
			assert_int_equal(ibv_req_notify_cq(stage.end[1].cq, 0), 0);
		begin_ns = soft_time_ns();
		post(&stage, IBV_WR_SEND, 8);
		if (!(i & 2))
			assert_int_equal(ibv_req_notify_cq(stage.end[1].cq, 0), 0);
		if (!(i & 2) && !stage_is_empty(stage.end[1].cq)) {
			stage_close(&stage);
			continue;
		}
		await_event(&stage);
		assert_true(soft_time_ns() - begin_ns >= rows[i % 2].latency_ns);
		await_success(stage.end[1].cq);
		stage_close(&stage);
	}
}

static void test_fence_waits_for_read(void **unused)
{
	struct stage stage;
	struct ibv_send_wr wr;
	uint64_t begin_ns;

	open_link(&stage, "latency=5ms", &(struct stage_ways){0});
	begin_ns = soft_time_ns();
	post(&stage, IBV_WR_RDMA_READ, 8);
	wr = request(&stage, IBV_WR_RDMA_WRITE);
	wr.send_flags |= IBV_SEND_FENCE;
	assert_int_equal(stage_post(&stage, &wr, 8), 0);
	await_success(stage.end[0].cq);
	await_success(stage.end[0].cq);
	assert_true(soft_time_ns() - begin_ns >= 20 * MS);
	stage_close(&stage);
}

static void test_draining(void **unused)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1};
	struct stage stage;
	uint64_t begin_ns;

	open_link(&stage, "latency=5ms", &(struct stage_ways){0});
	begin_ns = soft_time_ns();
	post(&stage, IBV_WR_SEND, 8);
	assert_int_equal(
		ibv_modify_qp(stage.end[0].qp, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY),
		0);
	assert_int_equal(stage_await_event(&stage), IBV_EVENT_SQ_DRAINED);
	assert_true(soft_time_ns() - begin_ns >= 10 * MS);
	await_success(stage.end[0].cq);
	stage_close(&stage);
}

static void test_flushes_requests_in_flight(void **unused)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct stage stage;

	open_link(&stage, "latency=5s", &(struct stage_ways){0});
	post(&stage, IBV_WR_RDMA_WRITE, 8);
	post(&stage, IBV_WR_RDMA_READ, 8);
	assert_int_equal(ibv_modify_qp(stage.end[0].qp, &attr, IBV_QP_STATE), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(stage_await(stage.end[0].cq).status, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(stage.end[1].buffer[0], 0);
	stage_close(&stage);
}

/* Requests before the failing one are carried out, those after it are not. */
static void test_an_error_in_the_middle(void **unused)
{
	static const enum ibv_wc_status wanted[] = {IBV_WC_SUCCESS, IBV_WC_REM_ACCESS_ERR,
						    IBV_WC_WR_FLUSH_ERR};
	struct stage stage;

	open_link(&stage, "latency=1ms", &(struct stage_ways){0});
	for (unsigned int i = 0; i < ARRAY_LENGTH(wanted); i++) {
		struct ibv_send_wr wr = request(&stage, IBV_WR_RDMA_WRITE);

		wr.wr.rdma.remote_addr += i;
		wr.wr.rdma.rkey += i == 1;
		assert_int_equal(stage_post(&stage, &wr, 1), 0);
	}
	for (unsigned int i = 0; i < ARRAY_LENGTH(wanted); i++)
		assert_int_equal(stage_await(stage.end[0].cq).status, wanted[i]);
	assert_memory_equal(stage.end[1].buffer, "\1\0\0", 3);
	stage_close(&stage);
}

/* Timeout 8 is 4.096 us * 2^8; there are three attempts. */
static void test_all_messages_lost(void **unused)
{
	struct stage stage;
	uint64_t begin_ns;

	open_link(&stage, "loss=1", &(struct stage_ways){.timeout = 8, .retry_cnt = 2});
	begin_ns = soft_time_ns();
	post(&stage, IBV_WR_SEND, 8);
	assert_int_equal(stage_await(stage.end[0].cq).status, IBV_WC_RETRY_EXC_ERR);
	assert_true(soft_time_ns() - begin_ns >= 3 * UINT64_C(1048576));
	assert_int_equal(stage_state(stage.end[0].qp), IBV_QPS_ERR);
	assert_true(stage_is_empty(stage.end[1].cq));
	stage_close(&stage);
}

/*
 * With a loss of one half, splitmix64 drops the first three messages of the first queue pair with
 * seed 11, and the first two with seed 16. The message arrives if enough retries are allowed.
 */
static void test_attempts(void **unused)
{
	static const struct {
		const char *link;
		uint8_t retry_cnt;
		enum ibv_wc_status status;
	} rows[] = {
		{"loss=0.5,seed=16", 1, IBV_WC_RETRY_EXC_ERR},
		{"loss=0.5,seed=16", 2, IBV_WC_SUCCESS      },
		{"loss=0.5,seed=11", 2, IBV_WC_RETRY_EXC_ERR},
		{"loss=0.5,seed=11", 3, IBV_WC_SUCCESS      },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct stage stage;

		open_link(&stage, rows[i].link,
			  &(struct stage_ways){.timeout = 1, .retry_cnt = rows[i].retry_cnt});
		post(&stage, IBV_WR_SEND, 8);
		assert_int_equal(stage_await(stage.end[0].cq).status, rows[i].status);
		stage_close(&stage);
	}
}

/*
 * Without a link model, a message is delivered only by the post: the target connects too late here.
 */
static void test_no_second_attempt(void **unused)
{
	const struct stage_ways ways = {.is_apart = true, .timeout = 14};
	struct stage stage;
	struct ibv_send_wr wr;
	union ibv_gid gid;

	open_link(&stage, "", &ways);
	assert_int_equal(ibv_query_gid(stage.context, 1, 0, &gid), 0);
	stage_connect(stage.end[0].qp, &gid, stage.end[1].qp->qp_num, &ways);
	wr = request(&stage, IBV_WR_SEND);
	assert_int_equal(stage_post(&stage, &wr, 8), 0);
	stage_connect(stage.end[1].qp, &gid, stage.end[0].qp->qp_num, &ways);
	stage_receive(&stage, 64, 0);
	assert_int_equal(stage_await(stage.end[0].cq).status, IBV_WC_RETRY_EXC_ERR);
	assert_true(stage_is_empty(stage.end[1].cq));
	stage_close(&stage);
}

/* Sends numbered messages one by one. Returns the number that arrived, and which. */
static unsigned int send_many(const char *link, enum ibv_qp_type type, bool arrived[static MANY])
{
	const struct stage_ways ways = {.type = type, .timeout = 1, .retry_cnt = 7};
	struct ibv_ah_attr address = {.is_global = 1, .port_num = 1};
	unsigned int count = 0;
	struct ibv_ah *ah = NULL;
	struct stage stage;

	memset(arrived, 0, MANY * sizeof(*arrived));
	open_link(&stage, link, &ways);
	if (type == IBV_QPT_UD) {
		assert_int_equal(ibv_query_gid(stage.context, 1, 0, &address.grh.dgid), 0);
		ah = ibv_create_ah(stage.pd, &address);
		assert_non_null(ah);
	}
	stage_receive(&stage, 64, 0);
	for (uint32_t i = 0; i < MANY; i++) {
		struct ibv_send_wr wr = {.opcode = IBV_WR_SEND_WITH_IMM,
					 .send_flags = IBV_SEND_SIGNALED,
					 .imm_data = i};
		struct ibv_wc wc;

		if (ah)
			wr.wr.ud = (__typeof__(wr.wr.ud)){ah, stage.end[1].qp->qp_num, STAGE_QKEY};
		assert_int_equal(stage_post(&stage, &wr, 8), 0);
		await_success(stage.end[0].cq);
		if (!ibv_poll_cq(stage.end[1].cq, 1, &wc))
			continue;
		assert_int_equal(wc.imm_data, i);
		arrived[i] = true;
		count++;
		stage_receive(&stage, 64, 0);
	}
	if (ah)
		assert_int_equal(ibv_destroy_ah(ah), 0);
	stage_close(&stage);
	return count;
}

/* 200 fair coins show 65 to 135 heads, except for one time in a million. */
static void test_loss_follows_from_the_seed(void **unused)
{
	static const enum ibv_qp_type types[] = {IBV_QPT_UC, IBV_QPT_UD};
	bool one[MANY];
	bool other[MANY];

	for (size_t i = 0; i < ARRAY_LENGTH(types); i++) {
		unsigned int count = send_many("loss=0.5,seed=7", types[i], one);

		assert_in_range(count, 65, 135);
		assert_int_equal(send_many("loss=0.5,seed=7", types[i], other), count);
		assert_memory_equal(one, other, sizeof(one));
		assert_in_range(send_many("loss=0.5,seed=8", types[i], other), 65, 135);
		assert_memory_not_equal(one, other, sizeof(one));
	}
}

/* With a loss of 1/20, eight attempts in a row are lost one time in 25 billion. */
static void test_reliable_messages_arrive(void **unused)
{
	bool arrived[MANY];

	assert_int_equal(send_many("loss=0.05,latency=1us", IBV_QPT_RC, arrived), MANY);
}

static void test_jitter_keeps_the_order(void **unused)
{
	static const enum ibv_qp_type types[] = {IBV_QPT_RC, IBV_QPT_UC};

	for (size_t i = 0; i < ARRAY_LENGTH(types); i++) {
		struct stage stage;

		open_link(&stage, "latency=200us,jitter=200us",
			  &(struct stage_ways){.type = types[i]});
		for (uint32_t n = 0; n < STAGE_DEPTH; n++) {
			struct ibv_send_wr wr = {.opcode = IBV_WR_SEND_WITH_IMM, .imm_data = n};

			stage_receive(&stage, 64, n);
			assert_int_equal(stage_post(&stage, &wr, 8), 0);
		}
		for (uint32_t n = 0; n < STAGE_DEPTH; n++) {
			struct ibv_wc wc = stage_await(stage.end[1].cq);

			assert_int_equal(wc.imm_data, n);
			assert_int_equal(wc.wr_id, n);
		}
		stage_close(&stage);
	}
}

static void put(struct ibv_cq *cq, uint32_t qp_num, uint64_t wr_id, uint64_t in_ns)
{
	struct soft_cq_entry entry;

	soft_cq_begin(&entry);
	entry.completion.opcode = IBV_WC_RECV;
	entry.completion.qp_num = qp_num;
	entry.completion.wr_id = wr_id;
	if (in_ns)
		soft_cq_postpone(&entry, soft_time_ns() + in_ns);
	soft_cq_put(&soft_process.self, soft_cq_of(cq)->number, &entry);
}

/* Returns the order of the completions, as decimal digits. */
static unsigned int order_of(struct ibv_cq *cq)
{
	unsigned int order = 0;
	struct ibv_wc wc;

	put(cq, 1, 1, MS);
	put(cq, 1, 2, 0);
	put(cq, 2, 3, 0);
	put(cq, 3, 4, MS);
	put(cq, 2, 5, 0);
	for (int i = 0; i < 5;) {
		if (ibv_poll_cq(cq, 1, &wc) != 1)
			continue;
		order = 10 * order + (unsigned int)wc.wr_id;
		i++;
	}
	return order;
}

/* A completion that is not due yet delays those of the same queue pair, but no others. */
static void test_due_completions_overtake(void **unused)
{
	unsigned int order = 0;
	struct stage stage;
	struct ibv_cq *cq;

	stage_open(&stage, &(struct stage_ways){0});
	cq = ibv_create_cq(stage.context, 16, NULL, NULL, 0);
	assert_non_null(cq);
	/* Retry, as a busy machine may be late by the millisecond. */
	for (int i = 0; i < MANY && order != 35124; i++)
		order = order_of(cq);
	assert_int_equal(order, 35124);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	stage_close(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_early),
		cmocka_unit_test(test_shared_bandwidth),
		cmocka_unit_test(test_write_is_not_visible_early),
		cmocka_unit_test(test_message_is_not_polled_early),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_due_completions_overtake),
		cmocka_unit_test(test_fence_waits_for_read),
		cmocka_unit_test(test_draining),
		cmocka_unit_test(test_flushes_requests_in_flight),
		cmocka_unit_test(test_an_error_in_the_middle),
		cmocka_unit_test(test_all_messages_lost),
		cmocka_unit_test(test_attempts),
		cmocka_unit_test(test_no_second_attempt),
		cmocka_unit_test(test_loss_follows_from_the_seed),
		cmocka_unit_test(test_reliable_messages_arrive),
		cmocka_unit_test(test_jitter_keeps_the_order),
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
