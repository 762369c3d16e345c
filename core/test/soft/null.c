/* SPDX-License-Identifier: MIT */
/* Null regions: ibv_alloc_null_mr. */
#include <errno.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/test/soft/stage.h"

enum {
	MOST = 100000,
};

/* Addresses that the program has not mapped. */
static const uint64_t addresses[] = {0, 0x123456789, UINT64_MAX - MOST};
static const uint32_t sizes[] = {1, 64, 4096, MOST};

static void open_null(struct stage *stage, struct ibv_mr **null)
{
	stage_open(stage, &(struct stage_ways){0});
	*null = ibv_alloc_null_mr(stage->pd);
	assert_non_null(*null);
}

static void post(struct stage *stage, enum ibv_wr_opcode opcode, struct ibv_sge sge)
{
	struct ibv_send_wr wr = {
		.opcode = opcode, .send_flags = IBV_SEND_SIGNALED, .sg_list = &sge, .num_sge = 1};
	struct ibv_send_wr *bad;

	wr.wr.rdma.remote_addr = (uintptr_t)stage->end[1].buffer;
	wr.wr.rdma.rkey = stage->mr->rkey;
	assert_int_equal(ibv_post_send(stage->end[0].qp, &wr, &bad), 0);
	assert_int_equal(stage_await(stage->end[0].cq).status, IBV_WC_SUCCESS);
}

static bool is_filled(const unsigned char *bytes, size_t size, unsigned char with)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i] != with)
			return false;
	return true;
}

/* The device sends zeros and drops received data: the zeros stay zeros. */
static void test_local(void **unused)
{
	struct ibv_mr *null;
	struct stage stage;

	open_null(&stage, &null);
	for (size_t i = 0; i < ARRAY_LENGTH(addresses) * ARRAY_LENGTH(sizes); i++) {
		uint32_t size = sizes[i / ARRAY_LENGTH(addresses)];
		struct ibv_sge sge = {.addr = addresses[i % ARRAY_LENGTH(addresses)],
				      .length = size,
				      .lkey = null->lkey};

		memset(stage.end[1].buffer, 0xff, MOST + 1);
		post(&stage, IBV_WR_RDMA_READ, sge);
		assert_true(is_filled(stage.end[1].buffer, MOST + 1, 0xff));
		post(&stage, IBV_WR_RDMA_WRITE, sge);
		assert_true(is_filled(stage.end[1].buffer, size, 0));
		assert_int_equal(stage.end[1].buffer[size], 0xff);
	}
	assert_int_equal(ibv_dereg_mr(null), 0);
	stage_close(&stage);
}

static void test_receive(void **unused)
{
	struct ibv_mr *null;
	struct stage stage;

	open_null(&stage, &null);
	for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
		struct ibv_sge zeros = {.length = sizes[i], .lkey = null->lkey};
		struct ibv_recv_wr wr = {.wr_id = 5, .sg_list = &zeros, .num_sge = 1};
		struct ibv_recv_wr *bad;
		struct ibv_wc wc;

		assert_int_equal(ibv_post_recv(stage.end[1].qp, &wr, &bad), 0);
		post(&stage, IBV_WR_SEND, zeros);
		wc = stage_await(stage.end[1].cq);
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		assert_int_equal(wc.byte_len, sizes[i]);
	}
	assert_int_equal(ibv_dereg_mr(null), 0);
	stage_close(&stage);
}

static void test_no_remote_access(void **unused)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE};
	struct ibv_mr *null;
	struct stage stage;

	open_null(&stage, &null);
	wr.wr.rdma.rkey = null->rkey;
	assert_int_equal(stage_post(&stage, &wr, 8), 0);
	assert_int_equal(stage_await(stage.end[0].cq).status, IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(ibv_dealloc_pd(stage.pd), EBUSY);
	assert_int_equal(ibv_dereg_mr(null), 0);
	stage_close(&stage);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_local),
		cmocka_unit_test(test_receive),
		cmocka_unit_test(test_no_remote_access),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
