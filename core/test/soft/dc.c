/* SPDX-License-Identifier: MIT */
/* DC: initiators that send to several targets, which they name in each request. */
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/test/soft/stage.h"

enum {
	INITIATORS = 2,
	TARGETS = 3,
	DEPTH = 8,
	LONG = 2048, /* does not travel in a completion */
};

#define KEY          UINT64_C(0x1234567890abcdef)
#define EVERY_ACCESS (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

/* All targets receive from the stage's SRQ, into the second half of its buffer. */
struct dc {
	struct stage stage;
	union ibv_gid gid;
	struct ibv_ah *ah;
	struct ibv_qp *initiator[INITIATORS];
	struct ibv_qp *target[TARGETS];
};

static struct ibv_qp_init_attr_ex attributes(const struct stage *stage, bool is_target)
{
	return (struct ibv_qp_init_attr_ex){
		.send_cq = stage->end[is_target].cq,
		.recv_cq = stage->end[is_target].cq,
		.srq = is_target ? stage->srq : NULL,
		.cap = {.max_send_wr = DEPTH, .max_send_sge = 1, .max_inline_data = STAGE_INLINE},
		.qp_type = IBV_QPT_DRIVER,
		.comp_mask =
			IBV_QP_INIT_ATTR_PD | (is_target ? 0 : IBV_QP_INIT_ATTR_SEND_OPS_FLAGS),
		.pd = stage->pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE |
				  IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
	};
}

static struct ibv_qp *create(const struct stage *stage, struct ibv_qp_init_attr_ex *attr,
			     bool is_target)
{
	struct mlx5dv_qp_init_attr own = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC,
		.dc_init_attr = {.dc_type = MLX5DV_DCTYPE_DCI},
	};

	if (is_target) {
		own.dc_init_attr.dc_type = MLX5DV_DCTYPE_DCT;
		own.dc_init_attr.dct_access_key = KEY;
	}
	return mlx5dv_create_qp(stage->context, attr, &own);
}

static void modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, enum ibv_qp_state state, int mask)
{
	attr->qp_state = state;
	assert_int_equal(ibv_modify_qp(qp, attr, IBV_QP_STATE | mask), 0);
}

/* Uses the attributes that mlx5 requires, and no others. */
static struct ibv_qp *make(struct dc *dc, bool is_target)
{
	struct ibv_qp_init_attr_ex wanted = attributes(&dc->stage, is_target);
	struct ibv_qp *qp = create(&dc->stage, &wanted, is_target);
	struct ibv_qp_attr attr = {
		.port_num = 1,
		.path_mtu = IBV_MTU_1024,
		.ah_attr = {.is_global = 1, .port_num = 1},
		.qp_access_flags = EVERY_ACCESS,
		.min_rnr_timer = 1,
		.timeout = 8,
		.retry_cnt = 1,
		.max_rd_atomic = 1,
	};

	assert_non_null(qp);
	assert_int_equal(qp->qp_type, IBV_QPT_DRIVER);
	modify(qp, &attr, IBV_QPS_INIT,
	       IBV_QP_PKEY_INDEX | IBV_QP_PORT | (is_target ? IBV_QP_ACCESS_FLAGS : 0));
	if (is_target) {
		assert_int_equal(qp->qp_num, 0);
		modify(qp, &attr, IBV_QPS_RTR, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_MIN_RNR_TIMER);
		assert_int_not_equal(qp->qp_num, 0);
		return qp;
	}
	modify(qp, &attr, IBV_QPS_RTR, IBV_QP_PATH_MTU);
	modify(qp, &attr, IBV_QPS_RTS,
	       IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		       IBV_QP_MAX_QP_RD_ATOMIC);
	return qp;
}

static void open_dc(struct dc *dc)
{
	const struct stage_ways ways = {.is_apart = true, .with_srq = true};
	struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1};

	memset(dc, 0, sizeof(*dc));
	stage_open(&dc->stage, &ways);
	assert_int_equal(ibv_query_gid(dc->stage.context, 1, 0, &dc->gid), 0);
	attr.grh.dgid = dc->gid;
	dc->ah = ibv_create_ah(dc->stage.pd, &attr);
	assert_non_null(dc->ah);
	for (unsigned int i = 0; i < INITIATORS; i++)
		dc->initiator[i] = make(dc, false);
	for (unsigned int i = 0; i < TARGETS; i++)
		dc->target[i] = make(dc, true);
}

static void close_dc(struct dc *dc)
{
	for (unsigned int i = 0; i < INITIATORS; i++)
		assert_int_equal(ibv_destroy_qp(dc->initiator[i]), 0);
	for (unsigned int i = 0; i < TARGETS; i++)
		assert_int_equal(ibv_destroy_qp(dc->target[i]), 0);
	assert_int_equal(ibv_destroy_ah(dc->ah), 0);
	stage_close(&dc->stage);
}

static void receive(struct dc *dc, uint64_t wr_id)
{
	struct ibv_sge sge = {.addr = (uintptr_t)dc->stage.end[1].buffer,
			      .length = LONG,
			      .lkey = dc->stage.mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad;

	assert_int_equal(ibv_post_srq_recv(dc->stage.srq, &wr, &bad), 0);
}

/* A request to a target; by default, with its key and for its memory. */
struct request {
	unsigned int initiator;
	unsigned int target;
	enum ibv_wr_opcode opcode;
	uint32_t length;
	uint64_t wrong_key;
	uint32_t wrong_rkey;
	bool is_unaddressed;
};

static void post(struct dc *dc, struct request request)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(dc->initiator[request.initiator]);
	uint64_t remote = (uintptr_t)dc->stage.end[1].buffer;
	uint32_t rkey = dc->stage.mr->rkey + request.wrong_rkey;

	ibv_wr_start(qpx);
	qpx->wr_id = request.target;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	if (request.opcode == IBV_WR_RDMA_WRITE)
		ibv_wr_rdma_write(qpx, rkey, remote);
	else if (request.opcode == IBV_WR_RDMA_READ)
		ibv_wr_rdma_read(qpx, rkey, remote);
	else if (request.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		ibv_wr_atomic_fetch_add(qpx, rkey, remote, 5);
	else
		ibv_wr_send(qpx);
	if (!request.is_unaddressed)
		mlx5dv_wr_set_dc_addr(mlx5dv_qp_ex_from_ibv_qp_ex(qpx), dc->ah,
				      dc->target[request.target]->qp_num, KEY + request.wrong_key);
	ibv_wr_set_sge(qpx, dc->stage.mr->lkey, (uintptr_t)dc->stage.end[0].buffer, request.length);
	assert_int_equal(ibv_wr_complete(qpx), 0);
}

static void expect_sent(struct dc *dc, enum ibv_wc_status status)
{
	assert_int_equal(stage_await(dc->stage.end[0].cq).status, status);
}

/* Consecutive requests of each initiator reach the targets that they name. */
static void test_send(void **unused)
{
	struct dc dc;

	open_dc(&dc);
	for (unsigned int i = 0; i < INITIATORS * TARGETS; i++) {
		unsigned char *local = dc.stage.end[0].buffer;
		unsigned char *remote = dc.stage.end[1].buffer;
		unsigned int target = i % TARGETS;
		uint32_t length = i % 2 ? LONG : 64;
		struct ibv_wc wc;

		memset(remote, 0, LONG);
		memset(local, (int)i + 1, length);
		receive(&dc, 100 + i);
		post(&dc, (struct request){.initiator = i / TARGETS,
					   .target = target,
					   .opcode = IBV_WR_SEND,
					   .length = length});
		expect_sent(&dc, IBV_WC_SUCCESS);
		wc = stage_await(dc.stage.end[1].cq);
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		assert_int_equal(wc.wr_id, 100 + i);
		assert_int_equal(wc.qp_num, dc.target[target]->qp_num);
		assert_int_equal(wc.byte_len, length);
		assert_memory_equal(remote, local, length);
	}
	close_dc(&dc);
}

static void test_one_sided(void **unused)
{
	uint64_t counter = 7;
	unsigned char *remote;
	unsigned char *local;
	struct dc dc;

	open_dc(&dc);
	local = dc.stage.end[0].buffer;
	remote = dc.stage.end[1].buffer;
	memset(local, 3, LONG);
	post(&dc, (struct request){.opcode = IBV_WR_RDMA_WRITE, .length = LONG});
	expect_sent(&dc, IBV_WC_SUCCESS);
	assert_memory_equal(remote, local, LONG);
	memset(remote, 4, LONG);
	post(&dc, (struct request){.target = 1, .opcode = IBV_WR_RDMA_READ, .length = LONG});
	expect_sent(&dc, IBV_WC_SUCCESS);
	assert_memory_equal(remote, local, LONG);
	memcpy(remote, &counter, sizeof(counter));
	post(&dc, (struct request){.target = 2,
				   .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
				   .length = sizeof(counter)});
	expect_sent(&dc, IBV_WC_SUCCESS);
	assert_memory_equal(local, &counter, sizeof(counter));
	counter = 12;
	assert_memory_equal(remote, &counter, sizeof(counter));
	close_dc(&dc);
}

/* A failed request stops its initiator. The target keeps serving the other one. */
static void check_failure(struct request request, enum ibv_wc_status status)
{
	struct dc dc;

	open_dc(&dc);
	request.length = 64;
	post(&dc, request);
	expect_sent(&dc, status);
	assert_int_equal(stage_state(dc.initiator[0]), IBV_QPS_ERR);
	assert_int_equal(stage_state(dc.target[0]), IBV_QPS_RTR);
	receive(&dc, 1);
	post(&dc, (struct request){.initiator = 1, .opcode = IBV_WR_SEND, .length = 64});
	expect_sent(&dc, IBV_WC_SUCCESS);
	assert_int_equal(stage_await(dc.stage.end[1].cq).status, IBV_WC_SUCCESS);
	close_dc(&dc);
}

static void test_failures(void **unused)
{
	const uint64_t high_bit = UINT64_C(1) << 63;

	check_failure((struct request){.opcode = IBV_WR_RDMA_WRITE, .wrong_key = high_bit},
		      IBV_WC_RETRY_EXC_ERR);
	check_failure((struct request){.opcode = IBV_WR_RDMA_WRITE, .is_unaddressed = true},
		      IBV_WC_RETRY_EXC_ERR);
	check_failure((struct request){.opcode = IBV_WR_RDMA_WRITE, .wrong_rkey = 1},
		      IBV_WC_REM_ACCESS_ERR);
	check_failure((struct request){.opcode = IBV_WR_SEND}, IBV_WC_RNR_RETRY_EXC_ERR);
}

static void check_refused(const struct stage *stage, struct ibv_qp_init_attr_ex attr,
			  bool is_target, int error)
{
	assert_null(create(stage, &attr, is_target));
	assert_int_equal(errno, error);
}

/* Initiators receive nothing, targets send nothing, and only libmlx5 creates either. */
static void test_refusals(void **unused)
{
	struct ibv_qp_init_attr_ex attr;
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
	struct ibv_send_wr *bad;
	struct dc dc;

	open_dc(&dc);
	attr = attributes(&dc.stage, false);
	attr.cap.max_recv_wr = 1;
	check_refused(&dc.stage, attr, false, EINVAL);
	attr = attributes(&dc.stage, false);
	attr.srq = dc.stage.srq;
	check_refused(&dc.stage, attr, false, EINVAL);
	attr = attributes(&dc.stage, true);
	attr.srq = NULL;
	check_refused(&dc.stage, attr, true, EINVAL);
	attr = attributes(&dc.stage, true);
	attr.qp_type = IBV_QPT_RC;
	check_refused(&dc.stage, attr, true, EINVAL);
	attr = attributes(&dc.stage, false);
	assert_null(ibv_create_qp_ex(dc.stage.context, &attr));
	assert_int_equal(errno, EOPNOTSUPP);
	assert_int_equal(ibv_post_send(dc.initiator[0], &wr, &bad), EINVAL);
	assert_int_equal(ibv_post_send(dc.target[0], &wr, &bad), EINVAL);
	close_dc(&dc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_send),
		cmocka_unit_test(test_one_sided),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
