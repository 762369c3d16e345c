/* SPDX-License-Identifier: MIT */
/* XRC: several queue pairs that send to one target process, whose SRQs they name. */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "core/soft/peer/image.h"
#include "core/test/soft/stage.h"

enum {
	SENDERS = 3,
	SRQS = 2,
	DEPTH = 8,
	BYTES = 4096,
	LONG = 2048, /* does not travel in a completion */
};

#define EVERY_ACCESS                                                                 \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	 IBV_ACCESS_REMOTE_ATOMIC)

/* The SRQs have a protection domain of their own, in which is the target's memory. */
struct xrc {
	struct stage stage; /* device, local memory and the completion queue of senders */
	struct ibv_xrcd *domain;
	struct ibv_pd *pd;
	struct ibv_cq *cq[SRQS];
	struct ibv_srq *srq[SRQS];
	uint32_t number[SRQS];
	struct ibv_qp *sender[SENDERS];
	struct ibv_qp *target[SENDERS];
	unsigned char buffer[BYTES];
	struct ibv_mr *mr;
};

static struct ibv_xrcd *open_domain(struct ibv_context *context, int fd, int flags)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = fd,
		.oflags = flags,
	};

	return ibv_open_xrcd(context, &attr);
}

static struct ibv_srq *create_srq(struct xrc *xrc, struct ibv_xrcd *domain, struct ibv_cq *cq)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = {.max_wr = DEPTH, .max_sge = 1},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = xrc->pd,
		.xrcd = domain,
		.cq = cq,
	};

	return ibv_create_srq_ex(xrc->stage.context, &attr);
}

static struct ibv_qp *create_target(struct xrc *xrc, struct ibv_xrcd *domain)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = domain,
	};

	return ibv_create_qp_ex(xrc->stage.context, &attr);
}

static struct ibv_qp *create_sender(struct xrc *xrc)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = xrc->stage.end[0].cq,
		.cap = {.max_send_wr = DEPTH, .max_send_sge = 1, .max_inline_data = STAGE_INLINE},
		.qp_type = IBV_QPT_XRC_SEND,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = xrc->stage.pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM,
	};

	return ibv_create_qp_ex(xrc->stage.context, &attr);
}

static void connect_pair(struct xrc *xrc, unsigned int i)
{
	const struct stage_ways ways = {0};
	union ibv_gid gid;

	assert_int_equal(ibv_query_gid(xrc->stage.context, 1, 0, &gid), 0);
	stage_connect(xrc->target[i], &gid, xrc->sender[i]->qp_num, &ways);
	stage_connect(xrc->sender[i], &gid, xrc->target[i]->qp_num, &ways);
}

static void open_xrc(struct xrc *xrc)
{
	const struct stage_ways ways = {.is_apart = true};

	memset(xrc, 0, sizeof(*xrc));
	stage_open(&xrc->stage, &ways);
	xrc->domain = open_domain(xrc->stage.context, -1, O_CREAT);
	assert_non_null(xrc->domain);
	xrc->pd = ibv_alloc_pd(xrc->stage.context);
	assert_non_null(xrc->pd);
	xrc->mr = ibv_reg_mr(xrc->pd, xrc->buffer, BYTES, EVERY_ACCESS);
	assert_non_null(xrc->mr);
	for (unsigned int i = 0; i < SRQS; i++) {
		xrc->cq[i] = ibv_create_cq(xrc->stage.context, 64, NULL, NULL, 0);
		assert_non_null(xrc->cq[i]);
		xrc->srq[i] = create_srq(xrc, xrc->domain, xrc->cq[i]);
		assert_non_null(xrc->srq[i]);
		assert_int_equal(ibv_get_srq_num(xrc->srq[i], &xrc->number[i]), 0);
	}
	for (unsigned int i = 0; i < SENDERS; i++) {
		xrc->target[i] = create_target(xrc, xrc->domain);
		xrc->sender[i] = create_sender(xrc);
		assert_non_null(xrc->target[i]);
		assert_non_null(xrc->sender[i]);
		connect_pair(xrc, i);
	}
}

static void close_xrc(struct xrc *xrc)
{
	for (unsigned int i = 0; i < SENDERS; i++) {
		assert_int_equal(ibv_destroy_qp(xrc->sender[i]), 0);
		assert_int_equal(ibv_destroy_qp(xrc->target[i]), 0);
	}
	for (unsigned int i = 0; i < SRQS; i++) {
		if (xrc->srq[i])
			assert_int_equal(ibv_destroy_srq(xrc->srq[i]), 0);
		assert_int_equal(ibv_destroy_cq(xrc->cq[i]), 0);
	}
	assert_int_equal(ibv_dereg_mr(xrc->mr), 0);
	assert_int_equal(ibv_dealloc_pd(xrc->pd), 0);
	assert_int_equal(ibv_close_xrcd(xrc->domain), 0);
	stage_close(&xrc->stage);
}

static void receive(struct xrc *xrc, unsigned int srq, uint64_t wr_id, uint32_t length)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)xrc->buffer, .length = length, .lkey = xrc->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad;

	assert_int_equal(ibv_post_srq_recv(xrc->srq[srq], &wr, &bad), 0);
}

/* Posts a request to an SRQ by number, for all of the target's buffer unless it is an atomic. */
static void post(struct xrc *xrc, unsigned int sender, enum ibv_wr_opcode opcode, uint32_t number,
		 uint32_t length)
{
	struct ibv_sge sge = {.addr = (uintptr_t)xrc->stage.end[0].buffer,
			      .length = length,
			      .lkey = xrc->stage.mr->lkey};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.qp_type.xrc.remote_srqn = number,
	};
	struct ibv_send_wr *bad;

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = (uintptr_t)xrc->buffer;
		wr.wr.atomic.rkey = xrc->mr->rkey;
		wr.wr.atomic.compare_add = 5;
	} else {
		wr.wr.rdma.remote_addr = (uintptr_t)xrc->buffer;
		wr.wr.rdma.rkey = xrc->mr->rkey;
	}
	assert_int_equal(ibv_post_send(xrc->sender[sender], &wr, &bad), 0);
}

static void expect_sent(struct xrc *xrc, enum ibv_wc_status status)
{
	assert_int_equal(stage_await(xrc->stage.end[0].cq).status, status);
}

/* Every sender reaches every SRQ, and completions name the target queue pair. */
static void test_send(void **unused)
{
	struct xrc xrc;

	open_xrc(&xrc);
	for (unsigned int i = 0; i < SENDERS * SRQS; i++) {
		unsigned int sender = i % SENDERS;
		unsigned int srq = i / SENDERS;
		uint32_t length = i % 2 ? LONG : 64;
		struct ibv_wc wc;

		memset(xrc.buffer, 0, BYTES);
		memset(xrc.stage.end[0].buffer, (int)i + 1, length);
		receive(&xrc, srq, 100 + i, BYTES);
		post(&xrc, sender, IBV_WR_SEND, xrc.number[srq], length);
		expect_sent(&xrc, IBV_WC_SUCCESS);
		wc = stage_await(xrc.cq[srq]);
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		assert_int_equal(wc.wr_id, 100 + i);
		assert_int_equal(wc.qp_num, xrc.target[sender]->qp_num);
		assert_int_equal(wc.byte_len, length);
		assert_memory_equal(xrc.buffer, xrc.stage.end[0].buffer, length);
		assert_int_equal(xrc.buffer[length], 0);
		assert_true(stage_is_empty(xrc.cq[!srq]));
	}
	close_xrc(&xrc);
}

/* One-sided requests access the memory of the SRQ's protection domain. */
static void test_one_sided(void **unused)
{
	struct xrc xrc;
	unsigned char *local;
	uint64_t counter = 7;

	open_xrc(&xrc);
	local = xrc.stage.end[0].buffer;
	memset(local, 3, LONG);
	post(&xrc, 0, IBV_WR_RDMA_WRITE, xrc.number[0], LONG);
	expect_sent(&xrc, IBV_WC_SUCCESS);
	assert_memory_equal(xrc.buffer, local, LONG);
	memset(xrc.buffer, 4, LONG);
	post(&xrc, 1, IBV_WR_RDMA_READ, xrc.number[1], LONG);
	expect_sent(&xrc, IBV_WC_SUCCESS);
	assert_memory_equal(xrc.buffer, local, LONG);
	memcpy(xrc.buffer, &counter, sizeof(counter));
	post(&xrc, 2, IBV_WR_ATOMIC_FETCH_AND_ADD, xrc.number[0], sizeof(counter));
	expect_sent(&xrc, IBV_WC_SUCCESS);
	assert_memory_equal(local, &counter, sizeof(counter));
	counter = 12;
	assert_memory_equal(xrc.buffer, &counter, sizeof(counter));
	close_xrc(&xrc);
}

/* ibv_wr_* with the number of an SRQ; a request without one fails. */
static void test_extended(void **unused)
{
	struct xrc xrc;
	char text[] = "abc";
	struct ibv_qp_ex *qpx;
	struct ibv_wc wc;

	open_xrc(&xrc);
	qpx = ibv_qp_to_qp_ex(xrc.sender[0]);
	receive(&xrc, 1, 1, BYTES);
	ibv_wr_start(qpx);
	qpx->wr_id = 2;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write_imm(qpx, xrc.mr->rkey, (uintptr_t)xrc.buffer, htobe32(9));
	ibv_wr_set_xrc_srqn(qpx, xrc.number[1]);
	ibv_wr_set_inline_data(qpx, text, 3);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	expect_sent(&xrc, IBV_WC_SUCCESS);
	wc = stage_await(xrc.cq[1]);
	assert_int_equal(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	assert_int_equal(be32toh(wc.imm_data), 9);
	assert_memory_equal(xrc.buffer, text, 3);
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_inline_data(qpx, text, 3);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	expect_sent(&xrc, IBV_WC_REM_INV_REQ_ERR);
	close_xrc(&xrc);
}

enum wrong {
	NONE,
	TOO_LARGE,
	NEVER_CREATED,
	OF_OTHER_DOMAIN,
	BASIC,
	DESTROYED,
	WRONG_ONES,
};

/* Returns a number that the targets do not accept, and the SRQ that has it. */
static uint32_t wrong_number(struct xrc *xrc, enum wrong wrong, struct ibv_srq **srq,
			     struct ibv_xrcd **other)
{
	struct ibv_srq_init_attr attr = {
		.attr = {.max_wr = DEPTH, .max_sge = 1}
        };
	uint32_t number = 0;

	switch ((int)wrong) {
	case NONE:
		return 0;
	case TOO_LARGE:
		return SOFT_SRQS + xrc->number[0];
	case NEVER_CREATED:
		return SOFT_SRQS - 1;
	case OF_OTHER_DOMAIN:
		*other = open_domain(xrc->stage.context, -1, O_CREAT);
		*srq = create_srq(xrc, *other, xrc->cq[0]);
		break;
	case BASIC:
		*srq = ibv_create_srq(xrc->pd, &attr);
		break;
	default:
		assert_int_equal(ibv_destroy_srq(xrc->srq[0]), 0);
		xrc->srq[0] = NULL;
		return xrc->number[0];
	}
	assert_non_null(*srq);
	assert_int_equal(ibv_get_srq_num(*srq, &number), 0);
	return number;
}

/* The sender gets an error and the target an event; other queue pairs of the domain stay. */
static void check_wrong_number(enum wrong wrong, enum ibv_wr_opcode opcode)
{
	struct ibv_xrcd *other = NULL;
	struct ibv_srq *srq = NULL;
	struct xrc xrc;
	uint32_t number;

	open_xrc(&xrc);
	number = wrong_number(&xrc, wrong, &srq, &other);
	post(&xrc, 0, opcode, number, 8);
	expect_sent(&xrc, IBV_WC_REM_INV_REQ_ERR);
	assert_int_equal(stage_await_event(&xrc.stage), IBV_EVENT_QP_REQ_ERR);
	assert_int_equal(stage_state(xrc.sender[0]), IBV_QPS_ERR);
	assert_int_equal(stage_state(xrc.target[0]), IBV_QPS_ERR);
	receive(&xrc, 1, 1, BYTES);
	post(&xrc, 1, IBV_WR_SEND, xrc.number[1], 8);
	expect_sent(&xrc, IBV_WC_SUCCESS);
	if (srq)
		assert_int_equal(ibv_destroy_srq(srq), 0);
	if (other)
		assert_int_equal(ibv_close_xrcd(other), 0);
	close_xrc(&xrc);
}

static void test_wrong_numbers(void **unused)
{
	static const enum ibv_wr_opcode opcodes[] = {IBV_WR_SEND, IBV_WR_RDMA_WRITE,
						     IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD};

	for (enum wrong wrong = NONE; wrong < WRONG_ONES; wrong++)
		for (size_t i = 0; i < ARRAY_LENGTH(opcodes); i++)
			check_wrong_number(wrong, opcodes[i]);
}

/* Without a receive, the sender retries; here never. */
static void test_no_receive(void **unused)
{
	struct xrc xrc;

	open_xrc(&xrc);
	receive(&xrc, 1, 1, BYTES);
	post(&xrc, 0, IBV_WR_SEND, xrc.number[0], 8);
	expect_sent(&xrc, IBV_WC_RNR_RETRY_EXC_ERR);
	post(&xrc, 1, IBV_WR_SEND, xrc.number[1], 8);
	expect_sent(&xrc, IBV_WC_SUCCESS);
	close_xrc(&xrc);
}

/* The receive reports a message that is too long. */
static void test_long_message(void **unused)
{
	struct xrc xrc;

	open_xrc(&xrc);
	receive(&xrc, 0, 1, 8);
	post(&xrc, 0, IBV_WR_SEND, xrc.number[0], 9);
	expect_sent(&xrc, IBV_WC_REM_INV_REQ_ERR);
	assert_int_equal(stage_await(xrc.cq[0]).status, IBV_WC_LOC_LEN_ERR);
	assert_int_equal(stage_state(xrc.target[0]), IBV_QPS_ERR);
	close_xrc(&xrc);
}

/* Memory that is not in the SRQ's protection domain, although in that of another queue pair. */
static void test_other_memory(void **unused)
{
	struct xrc xrc;
	struct ibv_mr *mr;

	open_xrc(&xrc);
	mr = xrc.mr;
	xrc.mr = xrc.stage.mr;
	post(&xrc, 0, IBV_WR_RDMA_WRITE, xrc.number[0], 8);
	expect_sent(&xrc, IBV_WC_REM_ACCESS_ERR);
	xrc.mr = mr;
	assert_int_equal(stage_await_event(&xrc.stage), IBV_EVENT_QP_ACCESS_ERR);
	close_xrc(&xrc);
}

/* A target posts nothing, and neither end receives by itself. */
static void test_directions(void **unused)
{
	struct ibv_send_wr send = {.opcode = IBV_WR_SEND};
	struct ibv_recv_wr receive_wr = {0};
	struct ibv_send_wr *bad_send;
	struct ibv_recv_wr *bad;
	struct xrc xrc;

	open_xrc(&xrc);
	assert_int_equal(ibv_post_send(xrc.target[0], &send, &bad_send), EINVAL);
	assert_int_not_equal(ibv_post_recv(xrc.target[0], &receive_wr, &bad), 0);
	assert_int_not_equal(ibv_post_recv(xrc.sender[0], &receive_wr, &bad), 0);
	close_xrc(&xrc);
}

static void test_busy(void **unused)
{
	struct xrc xrc;

	open_xrc(&xrc);
	assert_int_equal(ibv_close_xrcd(xrc.domain), EBUSY);
	assert_int_equal(ibv_destroy_cq(xrc.cq[0]), EBUSY);
	assert_int_equal(ibv_dealloc_pd(xrc.pd), EBUSY);
	close_xrc(&xrc);
}

/* A target and an SRQ from two handles of the same file belong together. */
static void test_shared_domain(void **unused)
{
	int fd = memfd_create("domain", MFD_CLOEXEC);
	struct ibv_xrcd *one;
	struct ibv_xrcd *other;
	struct ibv_srq *srq;
	struct xrc xrc;
	uint32_t number;

	open_xrc(&xrc);
	one = open_domain(xrc.stage.context, fd, O_CREAT);
	other = open_domain(xrc.stage.context, fd, 0);
	assert_int_equal(ibv_destroy_qp(xrc.target[0]), 0);
	assert_int_equal(ibv_destroy_qp(xrc.sender[0]), 0);
	xrc.target[0] = create_target(&xrc, one);
	xrc.sender[0] = create_sender(&xrc);
	connect_pair(&xrc, 0);
	srq = create_srq(&xrc, other, xrc.cq[0]);
	assert_non_null(srq);
	assert_int_equal(ibv_get_srq_num(srq, &number), 0);
	post(&xrc, 0, IBV_WR_RDMA_WRITE, number, 8);
	expect_sent(&xrc, IBV_WC_SUCCESS);
	assert_int_equal(ibv_destroy_srq(srq), 0);
	assert_int_equal(ibv_close_xrcd(other), 0);
	assert_int_equal(ibv_close_xrcd(one), EBUSY);
	post(&xrc, 0, IBV_WR_RDMA_WRITE, number, 8);
	expect_sent(&xrc, IBV_WC_REM_INV_REQ_ERR);
	assert_int_equal(ibv_destroy_qp(xrc.target[0]), 0);
	assert_int_equal(ibv_close_xrcd(one), 0);
	xrc.target[0] = create_target(&xrc, xrc.domain);
	close_xrc(&xrc);
	close(fd);
}

/* A target stays until its last handle is destroyed. */
static void test_open_target(void **unused)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_type = IBV_QPT_XRC_RECV,
	};
	struct ibv_xrcd *other;
	struct ibv_qp *handle;
	struct xrc xrc;

	open_xrc(&xrc);
	other = open_domain(xrc.stage.context, -1, O_CREAT);
	attr.xrcd = other;
	attr.qp_num = xrc.target[0]->qp_num;
	assert_null(ibv_open_qp(xrc.stage.context, &attr));
	assert_int_equal(errno, EINVAL);
	attr.xrcd = xrc.domain;
	attr.qp_num = xrc.sender[0]->qp_num;
	assert_null(ibv_open_qp(xrc.stage.context, &attr));
	attr.qp_num = xrc.target[0]->qp_num;
	handle = ibv_open_qp(xrc.stage.context, &attr);
	assert_non_null(handle);
	assert_int_equal(handle->qp_num, attr.qp_num);
	assert_int_equal(ibv_destroy_qp(xrc.target[0]), 0);
	xrc.target[0] = handle;
	post(&xrc, 0, IBV_WR_RDMA_WRITE, xrc.number[0], 8);
	expect_sent(&xrc, IBV_WC_SUCCESS);
	assert_int_equal(ibv_close_xrcd(other), 0);
	close_xrc(&xrc);
}

static void check_no_srq(struct xrc *xrc, struct ibv_srq_init_attr_ex attr, int error)
{
	attr.attr.max_wr = 1;
	attr.attr.max_sge = 1;
	assert_null(ibv_create_srq_ex(xrc->stage.context, &attr));
	assert_int_equal(errno, error);
}

static void check_no_qp(struct xrc *xrc, struct ibv_qp_init_attr_ex attr, int error)
{
	assert_null(ibv_create_qp_ex(xrc->stage.context, &attr));
	assert_int_equal(errno, error);
}

static void test_incomplete(void **unused)
{
	const uint32_t with_all = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
				  IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
	struct ibv_srq_init_attr_ex srq = {.srq_type = IBV_SRQT_XRC};
	struct ibv_qp_init_attr_ex qp = {.qp_type = IBV_QPT_XRC_RECV};
	struct xrc xrc;

	open_xrc(&xrc);
	srq.pd = xrc.pd;
	srq.xrcd = xrc.domain;
	srq.cq = xrc.cq[0];
	srq.comp_mask = with_all & ~(uint32_t)IBV_SRQ_INIT_ATTR_CQ;
	check_no_srq(&xrc, srq, EINVAL);
	srq.comp_mask = with_all & ~(uint32_t)IBV_SRQ_INIT_ATTR_XRCD;
	check_no_srq(&xrc, srq, EINVAL);
	srq.comp_mask = with_all;
	srq.srq_type = IBV_SRQT_TM;
	check_no_srq(&xrc, srq, EOPNOTSUPP);
	check_no_qp(&xrc, qp, EINVAL);
	qp.comp_mask = IBV_QP_INIT_ATTR_XRCD;
	check_no_qp(&xrc, qp, EINVAL);
	qp.xrcd = xrc.domain;
	qp.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	check_no_qp(&xrc, qp, EINVAL);
	qp.qp_type = IBV_QPT_XRC_SEND;
	qp.comp_mask = IBV_QP_INIT_ATTR_PD;
	qp.pd = xrc.pd;
	check_no_qp(&xrc, qp, EINVAL);
	close_xrc(&xrc);
}

/* Completions are lost, so all targets of the domain fail. */
static void test_overrun(void **unused)
{
	struct ibv_cq *small;
	struct ibv_srq *srq;
	struct xrc xrc;
	uint32_t number;

	open_xrc(&xrc);
	small = ibv_create_cq(xrc.stage.context, 1, NULL, NULL, 0);
	srq = create_srq(&xrc, xrc.domain, small);
	assert_non_null(srq);
	assert_int_equal(ibv_get_srq_num(srq, &number), 0);
	for (unsigned int i = 0; i < 2; i++) {
		struct ibv_recv_wr wr = {0};
		struct ibv_recv_wr *bad;

		assert_int_equal(ibv_post_srq_recv(srq, &wr, &bad), 0);
		post(&xrc, 0, IBV_WR_SEND, number, 0);
		expect_sent(&xrc, IBV_WC_SUCCESS);
	}
	assert_int_equal(stage_await_event(&xrc.stage), IBV_EVENT_CQ_ERR);
	for (unsigned int i = 0; i < SENDERS; i++) {
		assert_int_equal(stage_await_event(&xrc.stage), IBV_EVENT_QP_FATAL);
		assert_int_equal(stage_state(xrc.target[i]), IBV_QPS_ERR);
		assert_int_equal(stage_state(xrc.sender[i]), IBV_QPS_RTS);
	}
	assert_int_equal(ibv_destroy_srq(srq), 0);
	assert_int_equal(ibv_destroy_cq(small), 0);
	close_xrc(&xrc);
}

static void test_attributes(void **unused)
{
	struct ibv_device_attr_ex attr;
	struct xrc xrc;

	open_xrc(&xrc);
	assert_int_equal(ibv_query_device_ex(xrc.stage.context, NULL, &attr), 0);
	assert_true(attr.orig_attr.device_cap_flags & IBV_DEVICE_XRC);
	assert_true(attr.xrc_odp_caps & IBV_ODP_SUPPORT_SRQ_RECV);
	close_xrc(&xrc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_send),         cmocka_unit_test(test_one_sided),
		cmocka_unit_test(test_extended),     cmocka_unit_test(test_wrong_numbers),
		cmocka_unit_test(test_no_receive),   cmocka_unit_test(test_long_message),
		cmocka_unit_test(test_other_memory), cmocka_unit_test(test_directions),
		cmocka_unit_test(test_busy),         cmocka_unit_test(test_shared_domain),
		cmocka_unit_test(test_open_target),  cmocka_unit_test(test_incomplete),
		cmocka_unit_test(test_overrun),      cmocka_unit_test(test_attributes),
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
