/* SPDX-License-Identifier: MIT */
/* Queue pairs with a rate limit (ibv_modify_qp_rate_limit), without a link. */
#include <errno.h>

#include "core/base/clock.h"
#include "core/test/soft/stage.h"

enum {
	SLOW_KBPS = 1, /* too slow to send anything during a test */
	FAST_KBPS = 10000,
	LENGTH = 10000, /* 8 ms at FAST_KBPS */
};

static int limit(struct ibv_qp *qp, uint32_t kbps)
{
	struct ibv_qp_rate_limit_attr attr = {.rate_limit = kbps};

	return ibv_modify_qp_rate_limit(qp, &attr);
}

static int write_some(struct stage *stage)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED};

	wr.wr.rdma.remote_addr = (uintptr_t)stage->end[1].buffer;
	wr.wr.rdma.rkey = stage->mr->rkey;
	return stage_post(stage, &wr, LENGTH);
}

static void test_limits(void **unused)
{
	struct ibv_qp_rate_limit_attr unknown = {.rate_limit = 1, .comp_mask = 1};
	struct ibv_device_attr_ex attr;
	struct stage stage;

	stage_open(&stage, &(struct stage_ways){.is_apart = true});
	assert_int_equal(ibv_query_device_ex(stage.context, NULL, &attr), 0);
	assert_int_equal(attr.packet_pacing_caps.qp_rate_limit_min, 1);
	assert_int_equal(attr.packet_pacing_caps.qp_rate_limit_max, 100000000);
	assert_true(attr.packet_pacing_caps.supported_qpts & 1U << IBV_QPT_RC);
	/* The queue pair cannot send yet. */
	assert_int_equal(limit(stage.end[0].qp, 1), EINVAL);
	stage_close(&stage);
	stage_open(&stage, &(struct stage_ways){0});
	assert_int_equal(limit(stage.end[0].qp, 100000000), 0);
	assert_int_equal(limit(stage.end[0].qp, 100000001), EINVAL);
	assert_int_equal(ibv_modify_qp_rate_limit(stage.end[0].qp, &unknown), EINVAL);
	stage_close(&stage);
}

/* Each message leaves when the ones before it have passed at the limit. */
static void test_pace(void **unused)
{
	struct stage stage;
	uint64_t begun_ns;

	stage_open(&stage, &(struct stage_ways){0});
	assert_int_equal(limit(stage.end[0].qp, FAST_KBPS), 0);
	begun_ns = clock_now_ns();
	for (int i = 0; i < 3; i++)
		assert_int_equal(write_some(&stage), 0);
	for (uint64_t i = 1; i <= 3; i++) {
		assert_int_equal(stage_await(stage.end[0].cq).status, IBV_WC_SUCCESS);
		assert_true(clock_now_ns() - begun_ns >= i * 8 * NS_PER_MS);
	}
	stage_close(&stage);
}

/* A limit holds for one queue pair, until it is removed or the queue pair is reset. */
static void test_end_of_limit(void **unused)
{
	struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
	struct stage stage;

	stage_open(&stage, &(struct stage_ways){0});
	assert_int_equal(limit(stage.end[1].qp, SLOW_KBPS), 0);
	assert_int_equal(write_some(&stage), 0);
	assert_false(stage_is_empty(stage.end[0].cq));
	assert_int_equal(limit(stage.end[0].qp, SLOW_KBPS), 0);
	assert_int_equal(limit(stage.end[0].qp, 0), 0);
	assert_int_equal(write_some(&stage), 0);
	assert_int_equal(stage_await(stage.end[0].cq).status, IBV_WC_SUCCESS);
	assert_int_equal(limit(stage.end[0].qp, SLOW_KBPS), 0);
	assert_int_equal(write_some(&stage), 0);
	stage_receive(&stage, 8, 1);
	assert_int_equal(stage_post(&stage, &wr, 8), 0);
	assert_true(stage_is_empty(stage.end[0].cq));
	assert_true(stage_is_empty(stage.end[1].cq));
	assert_int_equal(ibv_modify_qp(stage.end[0].qp, &reset, IBV_QP_STATE), 0);
	stage_close(&stage);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_pace),
		cmocka_unit_test(test_end_of_limit),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
