/* SPDX-License-Identifier: MIT */
/* SRD: reliable datagrams that arrive in any order. */
#include <endian.h>
#include <errno.h>
#include <infiniband/efadv.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/soft/link/settings.h"
#include "core/test/soft/stage.h"

enum {
	PAIRS = 2,
	DEPTH = 64,
	LONG = 2048, /* does not travel in a completion */
	REQUESTS = 6,
	BAD = 1, /* the request that fails */
};

/* The queue pairs of the stage's two sides, each with its own half of the buffer. */
struct srd {
	struct stage stage;
	struct ibv_ah *ah;
	struct ibv_qp *qp[PAIRS];
	uint32_t rkey;
};

static struct ibv_qp_init_attr_ex attributes(const struct stage *stage, unsigned int i)
{
	return (struct ibv_qp_init_attr_ex){
		.send_cq = stage->end[i].cq,
		.recv_cq = stage->end[i].cq,
		.cap = {.max_send_wr = DEPTH,
			.max_recv_wr = DEPTH,
			.max_send_sge = 1,
			.max_recv_sge = 1},
		.qp_type = IBV_QPT_DRIVER,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = stage->pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
				  IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_RDMA_WRITE,
	};
}

static struct ibv_qp *create(const struct stage *stage, struct ibv_qp_init_attr_ex *attr)
{
	struct efadv_qp_init_attr own = {.driver_qp_type = EFADV_QP_DRIVER_TYPE_SRD};

	return efadv_create_qp_ex(stage->context, attr, &own, sizeof(own));
}

/* Uses the attributes that EFA has: those of UD. */
static struct ibv_qp *make(const struct stage *stage, unsigned int i)
{
	struct ibv_qp_init_attr_ex wanted = attributes(stage, i);
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = STAGE_QKEY, .rnr_retry = 7};
	struct ibv_qp *qp = create(stage, &wanted);

	assert_non_null(qp);
	assert_int_equal(qp->qp_type, IBV_QPT_DRIVER);
	assert_int_equal(
		ibv_modify_qp(qp, &attr,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY),
		0);
	attr.qp_state = IBV_QPS_RTR;
	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
	attr.qp_state = IBV_QPS_RTS;
	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_RNR_RETRY),
			 0);
	return qp;
}

static void open_srd(struct srd *srd)
{
	const struct stage_ways ways = {.is_apart = true, .cqe = 4 * DEPTH};
	struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1};

	memset(srd, 0, sizeof(*srd));
	stage_open(&srd->stage, &ways);
	assert_int_equal(ibv_query_gid(srd->stage.context, 1, 0, &attr.grh.dgid), 0);
	srd->ah = ibv_create_ah(srd->stage.pd, &attr);
	assert_non_null(srd->ah);
	srd->rkey = srd->stage.mr->rkey;
	for (unsigned int i = 0; i < PAIRS; i++)
		srd->qp[i] = make(&srd->stage, i);
}

static void close_srd(struct srd *srd)
{
	for (unsigned int i = 0; i < PAIRS; i++)
		assert_int_equal(ibv_destroy_qp(srd->qp[i]), 0);
	assert_int_equal(ibv_destroy_ah(srd->ah), 0);
	stage_close(&srd->stage);
}

/* Posts a receive into a place of its own. */
static void receive(struct srd *srd, unsigned int number)
{
	struct ibv_sge sge = {.addr = (uintptr_t)srd->stage.end[1].buffer + number * LONG,
			      .length = LONG,
			      .lkey = srd->stage.mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = number, .sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad;

	assert_int_equal(ibv_post_recv(srd->qp[1], &wr, &bad), 0);
}

/* Posts a request from the place with that number, without asking for a completion. */
static void post(struct srd *srd, enum ibv_wr_opcode opcode, uint32_t number, uint32_t length,
		 uint32_t qkey)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(srd->qp[0]);
	size_t place = (size_t)number * LONG;
	uint64_t remote = (uintptr_t)srd->stage.end[1].buffer + place;

	ibv_wr_start(qpx);
	qpx->wr_id = number;
	qpx->wr_flags = 0;
	if (opcode == IBV_WR_RDMA_WRITE)
		ibv_wr_rdma_write(qpx, srd->rkey, remote);
	else if (opcode == IBV_WR_RDMA_READ)
		ibv_wr_rdma_read(qpx, srd->rkey, remote);
	else
		ibv_wr_send_imm(qpx, htobe32(number));
	ibv_wr_set_ud_addr(qpx, srd->ah, srd->qp[1]->qp_num, qkey);
	ibv_wr_set_sge(qpx, srd->stage.mr->lkey, (uintptr_t)srd->stage.end[0].buffer + place,
		       length);
	assert_int_equal(ibv_wr_complete(qpx), 0);
}

static void check_payload(const struct srd *srd, const struct ibv_wc *wc, uint32_t number,
			  uint32_t length)
{
	assert_int_equal(wc->status, IBV_WC_SUCCESS);
	assert_int_equal(wc->byte_len, length);
	assert_false(wc->wc_flags & IBV_WC_GRH);
	assert_int_equal(wc->src_qp, srd->qp[0]->qp_num);
	assert_memory_equal(srd->stage.end[1].buffer + wc->wr_id * LONG,
			    srd->stage.end[0].buffer + (size_t)number * LONG, length);
}

/* Each message arrives once, and not all of them in order. Every request has a completion. */
static void check_order(uint32_t length)
{
	bool is_sent[DEPTH] = {false};
	bool is_received[DEPTH] = {false};
	unsigned int n_passed = 0;
	struct srd srd;

	open_srd(&srd);
	for (unsigned int i = 0; i < DEPTH; i++) {
		memset(srd.stage.end[0].buffer + (size_t)i * LONG, (int)i + 1, length);
		receive(&srd, i);
	}
	for (unsigned int i = 0; i < DEPTH; i++)
		post(&srd, IBV_WR_SEND_WITH_IMM, i, length, STAGE_QKEY);
	for (unsigned int i = 0; i < DEPTH; i++) {
		struct ibv_wc sent = stage_await(srd.stage.end[0].cq);
		struct ibv_wc wc = stage_await(srd.stage.end[1].cq);
		uint32_t number = be32toh(wc.imm_data);

		assert_int_equal(sent.status, IBV_WC_SUCCESS);
		assert_in_range(sent.wr_id, 0, DEPTH - 1);
		assert_in_range(number, 0, DEPTH - 1);
		assert_false(is_sent[sent.wr_id] || is_received[number]);
		is_sent[sent.wr_id] = is_received[number] = true;
		n_passed += number != i;
		check_payload(&srd, &wc, number, length);
	}
	assert_int_not_equal(n_passed, 0);
	close_srd(&srd);
}

static void test_order(void **unused)
{
	check_order(64);
	check_order(LONG);
}

static void test_one_sided(void **unused)
{
	struct srd srd;

	open_srd(&srd);
	memset(srd.stage.end[0].buffer, 3, LONG);
	post(&srd, IBV_WR_RDMA_WRITE, 0, LONG, STAGE_QKEY);
	assert_int_equal(stage_await(srd.stage.end[0].cq).status, IBV_WC_SUCCESS);
	assert_memory_equal(srd.stage.end[1].buffer, srd.stage.end[0].buffer, LONG);
	memset(srd.stage.end[1].buffer, 4, LONG);
	post(&srd, IBV_WR_RDMA_READ, 0, LONG, STAGE_QKEY);
	assert_int_equal(stage_await(srd.stage.end[0].cq).status, IBV_WC_SUCCESS);
	assert_memory_equal(srd.stage.end[1].buffer, srd.stage.end[0].buffer, LONG);
	close_srd(&srd);
}

/* A message without an answer fails alone. One that finds no receive waits for it. */
static void test_failures(void **unused)
{
	struct srd srd;

	open_srd(&srd);
	post(&srd, IBV_WR_SEND_WITH_IMM, 0, 64, STAGE_QKEY + 1);
	assert_int_equal(stage_await(srd.stage.end[0].cq).status, IBV_WC_RETRY_EXC_ERR);
	assert_int_equal(stage_state(srd.qp[0]), IBV_QPS_RTS);
	post(&srd, IBV_WR_SEND_WITH_IMM, 1, 64, STAGE_QKEY);
	assert_true(stage_is_empty(srd.stage.end[0].cq));
	receive(&srd, 2);
	assert_int_equal(stage_await(srd.stage.end[0].cq).status, IBV_WC_SUCCESS);
	assert_int_equal(stage_await(srd.stage.end[1].cq).status, IBV_WC_SUCCESS);
	close_srd(&srd);
}

/* On a link, too, a request that fails leaves those in flight alone. */
static void test_failure_on_a_link(void **unused)
{
	struct srd srd;

	assert_int_equal(setenv(SOFT_LINK_VARIABLE, "latency=2ms", 1), 0);
	open_srd(&srd);
	for (unsigned int i = 0; i < REQUESTS; i++) {
		srd.rkey = srd.stage.mr->rkey ^ (i == BAD);
		post(&srd, IBV_WR_RDMA_WRITE, i, LONG, STAGE_QKEY);
	}
	for (unsigned int i = 0; i < REQUESTS; i++) {
		struct ibv_wc wc = stage_await(srd.stage.end[0].cq);

		assert_int_equal(wc.status,
				 wc.wr_id == BAD ? IBV_WC_REM_ACCESS_ERR : IBV_WC_SUCCESS);
	}
	assert_int_equal(stage_state(srd.qp[0]), IBV_QPS_RTS);
	close_srd(&srd);
	assert_int_equal(unsetenv(SOFT_LINK_VARIABLE), 0);
}

/* Posts a request with inline data. */
static void post_inline(struct srd *srd, enum ibv_wr_opcode opcode, int result)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(srd->qp[0]);

	ibv_wr_start(qpx);
	if (opcode == IBV_WR_RDMA_WRITE)
		ibv_wr_rdma_write(qpx, srd->rkey, (uintptr_t)srd->stage.end[1].buffer);
	else
		ibv_wr_send(qpx);
	ibv_wr_set_ud_addr(qpx, srd->ah, srd->qp[1]->qp_num, STAGE_QKEY);
	ibv_wr_set_inline_data(qpx, srd->stage.end[0].buffer, 8);
	assert_int_equal(ibv_wr_complete(qpx), result);
}

static void test_refusals(void **unused)
{
	struct efadv_device_attr device;
	struct efadv_qp_init_attr own = {.driver_qp_type = EFADV_QP_DRIVER_TYPE_SRD + 1};
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_READ};
	struct ibv_qp_init_attr_ex attr;
	struct ibv_send_wr *bad;
	struct srd srd;

	open_srd(&srd);
	assert_int_equal(efadv_query_device(srd.stage.context, &device, sizeof(device)), 0);
	assert_true(device.device_caps & EFADV_DEVICE_ATTR_CAPS_RDMA_READ);
	attr = attributes(&srd.stage, 0);
	assert_null(efadv_create_qp_ex(srd.stage.context, &attr, &own, sizeof(own)));
	assert_int_equal(errno, EINVAL);
	attr.qp_type = IBV_QPT_UD;
	assert_null(create(&srd.stage, &attr));
	assert_int_equal(errno, EINVAL);
	receive(&srd, 0);
	post_inline(&srd, IBV_WR_SEND, 0);
	assert_int_equal(stage_await(srd.stage.end[0].cq).status, IBV_WC_SUCCESS);
	post_inline(&srd, IBV_WR_RDMA_WRITE, EINVAL);
	assert_true(stage_is_empty(srd.stage.end[0].cq));
	/* ibv_post_send has no place for both an address and a remote key. */
	wr.wr.ud.ah = srd.ah;
	assert_int_equal(ibv_post_send(srd.qp[0], &wr, &bad), EINVAL);
	close_srd(&srd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),    cmocka_unit_test(test_one_sided),
		cmocka_unit_test(test_failures), cmocka_unit_test(test_failure_on_a_link),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
