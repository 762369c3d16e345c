/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "core/soft/time.h"
#include "core/test/soft/stage.h"

enum {
	NOTHING = -1,
	RECEIVE_ID = 21,
	SEND_ID = 22,
};

/*
 * IBTA specification, 9.9 and 11.6.2: the effects of an invalid request on both sides of a reliable
 * connection. If there is no completion at the target, there is an event.
 */
static const struct fault {
	const char *name;
	enum ibv_wr_opcode opcode;
	uint32_t length;
	uint32_t receive;     /* bytes posted at the target; 0: none */
	unsigned int access;  /* allowed by the target; 0: all */
	int64_t remote_shift; /* of the address, from the start of the target's half */
	uint32_t spoil_rkey;
	uint32_t spoil_lkey;
	bool no_reads;
	int here;  /* status at the requester */
	int there; /* status at the target */
	int event; /* at the target */
} faults[] = {
	{.name = "invalid lkey",
	 .opcode = IBV_WR_SEND,
	 .length = 8,
	 .receive = 64,
	 .spoil_lkey = 1,
	 .here = IBV_WC_LOC_PROT_ERR,
	 .there = NOTHING,
	 .event = NOTHING},
	{.name = "message longer than the receive",
	 .opcode = IBV_WR_SEND,
	 .length = 65,
	 .receive = 64,
	 .here = IBV_WC_REM_INV_REQ_ERR,
	 .there = IBV_WC_LOC_LEN_ERR,
	 .event = NOTHING},
	{.name = "invalid rkey",
	 .opcode = IBV_WR_RDMA_WRITE,
	 .length = 8,
	 .spoil_rkey = 1,
	 .here = IBV_WC_REM_ACCESS_ERR,
	 .there = NOTHING,
	 .event = IBV_EVENT_QP_ACCESS_ERR},
	{.name = "rkey of a region that does not exist",
	 .opcode = IBV_WR_RDMA_READ,
	 .length = 8,
	 .spoil_rkey = 1 << 20,
	 .here = IBV_WC_REM_ACCESS_ERR,
	 .there = NOTHING,
	 .event = IBV_EVENT_QP_ACCESS_ERR},
	{.name = "one byte past the end",
	 .opcode = IBV_WR_RDMA_WRITE,
	 .length = 8,
	 .remote_shift = STAGE_HALF - 7,
	 .here = IBV_WC_REM_ACCESS_ERR,
	 .there = NOTHING,
	 .event = IBV_EVENT_QP_ACCESS_ERR},
	{.name = "one byte before the start",
	 .opcode = IBV_WR_RDMA_READ,
	 .length = 8,
	 .remote_shift = -STAGE_HALF - 1,
	 .here = IBV_WC_REM_ACCESS_ERR,
	 .there = NOTHING,
	 .event = IBV_EVENT_QP_ACCESS_ERR},
	{.name = "address range wraps around",
	 .opcode = IBV_WR_RDMA_WRITE,
	 .length = STAGE_HALF,
	 .remote_shift = INT64_MAX,
	 .here = IBV_WC_REM_ACCESS_ERR,
	 .there = NOTHING,
	 .event = IBV_EVENT_QP_ACCESS_ERR},
	{.name = "queue pair without remote write",
	 .opcode = IBV_WR_RDMA_WRITE,
	 .length = 8,
	 .access = IBV_ACCESS_REMOTE_READ,
	 .here = IBV_WC_REM_INV_REQ_ERR,
	 .there = NOTHING,
	 .event = IBV_EVENT_QP_REQ_ERR},
	{.name = "queue pair without remote write, zero bytes",
	 .opcode = IBV_WR_RDMA_WRITE,
	 .length = 0,
	 .access = IBV_ACCESS_REMOTE_READ,
	 .here = IBV_WC_REM_INV_REQ_ERR,
	 .there = NOTHING,
	 .event = IBV_EVENT_QP_REQ_ERR},
	{.name = "queue pair without remote read",
	 .opcode = IBV_WR_RDMA_READ,
	 .length = 8,
	 .access = IBV_ACCESS_REMOTE_WRITE,
	 .here = IBV_WC_REM_INV_REQ_ERR,
	 .there = NOTHING,
	 .event = IBV_EVENT_QP_REQ_ERR},
	{.name = "queue pair without atomics",
	 .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
	 .length = 8,
	 .access = IBV_ACCESS_REMOTE_WRITE,
	 .here = IBV_WC_REM_INV_REQ_ERR,
	 .there = NOTHING,
	 .event = IBV_EVENT_QP_REQ_ERR},
	{.name = "atomic at a misaligned address",
	 .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
	 .length = 8,
	 .remote_shift = 4,
	 .here = IBV_WC_REM_INV_REQ_ERR,
	 .there = NOTHING,
	 .event = IBV_EVENT_QP_REQ_ERR},
	{.name = "atomic of four bytes",
	 .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
	 .length = 4,
	 .here = IBV_WC_LOC_LEN_ERR,
	 .there = NOTHING,
	 .event = NOTHING},
	{.name = "READ without responder resources",
	 .opcode = IBV_WR_RDMA_READ,
	 .length = 8,
	 .no_reads = true,
	 .here = IBV_WC_REM_INV_REQ_ERR,
	 .there = NOTHING,
	 .event = IBV_EVENT_QP_REQ_ERR},
	{.name = "WRITE with immediate and invalid rkey",
	 .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
	 .length = 8,
	 .receive = 64,
	 .spoil_rkey = 1,
	 .here = IBV_WC_REM_ACCESS_ERR,
	 .there = IBV_WC_WR_FLUSH_ERR,
	 .event = IBV_EVENT_QP_ACCESS_ERR},
	{.name = "no receive posted",
	 .opcode = IBV_WR_SEND,
	 .length = 8,
	 .here = IBV_WC_RNR_RETRY_EXC_ERR,
	 .there = NOTHING,
	 .event = NOTHING					   },
};

static struct ibv_send_wr request(const struct stage *stage, const struct fault *fault)
{
	uint64_t address = (uintptr_t)stage->end[1].buffer + (uint64_t)fault->remote_shift;
	uint32_t key = stage->mr->rkey ^ fault->spoil_rkey;
	struct ibv_send_wr wr = {.wr_id = SEND_ID, .opcode = fault->opcode};

	if (fault->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = address;
		wr.wr.atomic.rkey = key;
	} else {
		wr.wr.rdma.remote_addr = address;
		wr.wr.rdma.rkey = key;
	}
	return wr;
}

static void check_target(struct stage *stage, const struct fault *fault)
{
	if (fault->there != NOTHING) {
		struct ibv_wc wc = stage_await(stage->end[1].cq);

		assert_int_equal(wc.status, fault->there);
		assert_int_equal(wc.wr_id, RECEIVE_ID);
	} else if (!fault->receive) {
		assert_true(stage_is_empty(stage->end[1].cq));
	}
	if (fault->event != NOTHING)
		assert_int_equal(stage_await_event(stage), fault->event);
}

static void check_fault(const struct fault *fault)
{
	struct stage stage;
	struct ibv_send_wr wr;
	struct ibv_wc wc;

	print_message("# %s\n", fault->name);
	stage_open(&stage,
		   &(struct stage_ways){.access = fault->access, .no_reads = fault->no_reads});
	if (fault->receive)
		stage_receive(&stage, fault->receive, RECEIVE_ID);
	wr = request(&stage, fault);
	stage.mr->lkey ^= fault->spoil_lkey;
	assert_int_equal(stage_post(&stage, &wr, fault->length), 0);
	stage.mr->lkey ^= fault->spoil_lkey;
	/* The request is unsignaled, but errors always complete. */
	wc = stage_await(stage.end[0].cq);
	assert_int_equal(wc.status, fault->here);
	assert_int_equal(wc.wr_id, SEND_ID);
	assert_int_equal(stage_state(stage.end[0].qp), IBV_QPS_ERR);
	check_target(&stage, fault);
	/* Later requests are flushed. */
	wr = (struct ibv_send_wr){.wr_id = SEND_ID + 1, .opcode = IBV_WR_SEND};
	assert_int_equal(stage_post(&stage, &wr, 8), 0);
	wc = stage_await(stage.end[0].cq);
	assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(wc.wr_id, SEND_ID + 1);
	stage_close(&stage);
}

static void test_faults(void **unused)
{
	for (size_t i = 0; i < ARRAY_LENGTH(faults); i++)
		check_fault(&faults[i]);
}

static void test_region_of_another_domain(void **unused)
{
	struct stage stage;
	struct ibv_pd *other;
	struct ibv_mr *mr;
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE};

	stage_open(&stage, &(struct stage_ways){0});
	other = ibv_alloc_pd(stage.context);
	mr = ibv_reg_mr(other, stage.end[1].buffer, 64,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	assert_non_null(mr);
	assert_int_equal(ibv_dealloc_pd(other), EBUSY);
	wr.wr.rdma.remote_addr = (uintptr_t)stage.end[1].buffer;
	wr.wr.rdma.rkey = mr->rkey;
	assert_int_equal(stage_post(&stage, &wr, 8), 0);
	assert_int_equal(stage_await(stage.end[0].cq).status, IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dealloc_pd(other), 0);
	stage_close(&stage);
}

/* A region allows only the operations it was registered for. */
static void test_access_of_a_region(void **unused)
{
	static const struct {
		enum ibv_wr_opcode opcode;
		int access;
	} rows[] = {
		{IBV_WR_RDMA_WRITE,           IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC },
		{IBV_WR_RDMA_READ,            IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC},
		{IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE  },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct fault fault = {.opcode = rows[i].opcode};
		struct ibv_send_wr wr;
		struct stage stage;
		struct ibv_mr *mr;

		stage_open(&stage, &(struct stage_ways){0});
		mr = ibv_reg_mr(stage.pd, stage.end[1].buffer, 64,
				IBV_ACCESS_LOCAL_WRITE | rows[i].access);
		assert_non_null(mr);
		fault.spoil_rkey = stage.mr->rkey ^ mr->rkey;
		wr = request(&stage, &fault);
		assert_int_equal(stage_post(&stage, &wr, 8), 0);
		assert_int_equal(stage_await(stage.end[0].cq).status, IBV_WC_REM_ACCESS_ERR);
		assert_int_equal(ibv_dereg_mr(mr), 0);
		stage_close(&stage);
	}
}

/* The key of a deregistered region gives no access. */
static void test_deregistered_region(void **unused)
{
	struct stage stage;
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE};
	struct ibv_mr *mr;

	stage_open(&stage, &(struct stage_ways){0});
	mr = ibv_reg_mr(stage.pd, stage.end[1].buffer, 64,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	assert_non_null(mr);
	wr.wr.rdma.remote_addr = (uintptr_t)stage.end[1].buffer;
	wr.wr.rdma.rkey = mr->rkey;
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(stage_post(&stage, &wr, 8), 0);
	assert_int_equal(stage_await(stage.end[0].cq).status, IBV_WC_REM_ACCESS_ERR);
	stage_close(&stage);
}

static void set_partition(struct ibv_qp *qp, uint16_t index, int result)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_SQD, .pkey_index = index};

	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_PKEY_INDEX), result);
	attr.qp_state = IBV_QPS_RTS;
	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
}

/* A queue pair receives only packets of its own partition. */
static void test_partitions(void **unused)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_port_attr port;
	struct stage stage;

	stage_open(&stage, &(struct stage_ways){.timeout = 8, .retry_cnt = 1});
	assert_int_equal(ibv_query_port(stage.context, 1, &port), 0);
	wr.wr.rdma.remote_addr = (uintptr_t)stage.end[1].buffer;
	wr.wr.rdma.rkey = stage.mr->rkey;
	for (uint16_t index = 0; index < port.pkey_tbl_len; index++) {
		uint16_t key;

		assert_int_equal(ibv_query_pkey(stage.context, 1, index, &key), 0);
		assert_int_equal(ibv_get_pkey_index(stage.context, 1, key), index);
		set_partition(stage.end[0].qp, index, 0);
		set_partition(stage.end[1].qp, index, 0);
		assert_int_equal(stage_post(&stage, &wr, 8), 0);
		assert_int_equal(stage_await(stage.end[0].cq).status, IBV_WC_SUCCESS);
	}
	set_partition(stage.end[0].qp, port.pkey_tbl_len, EINVAL);
	set_partition(stage.end[0].qp, 1, 0);
	assert_int_equal(stage_post(&stage, &wr, 8), 0);
	assert_int_equal(stage_await(stage.end[0].cq).status, IBV_WC_RETRY_EXC_ERR);
	stage_close(&stage);
}

/* The peer is not connected and does not answer: 3 attempts of 1.05 ms each. */
static void test_no_answer(void **unused)
{
	struct stage_ways ways = {.is_apart = true, .timeout = 8, .retry_cnt = 2};
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .wr_id = 1};
	struct stage stage;
	union ibv_gid gid;
	uint64_t start_ns;

	stage_open(&stage, &ways);
	assert_int_equal(ibv_query_gid(stage.context, 1, 0, &gid), 0);
	stage_connect(stage.end[0].qp, &gid, stage.end[1].qp->qp_num, &ways);
	start_ns = soft_time_ns();
	assert_int_equal(stage_post(&stage, &wr, 8), 0);
	wr.wr_id = 2;
	assert_int_equal(stage_post(&stage, &wr, 8), 0);
	assert_int_equal(stage_await(stage.end[0].cq).status, IBV_WC_RETRY_EXC_ERR);
	assert_true(soft_time_ns() - start_ns >= 3 * UINT64_C(4096) * 256);
	assert_int_equal(stage_await(stage.end[0].cq).status, IBV_WC_WR_FLUSH_ERR);
	stage_close(&stage);
}

/* A GID that the peer does not have reaches nothing. */
static void test_unknown_gid(void **unused)
{
	struct stage_ways ways = {.is_apart = true};
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
	struct stage stage;
	union ibv_gid gid;
	union ibv_gid foreign = {
		.raw = {0x20, 0x01, 0x0d, 0xb8, [15] = 9}
        };

	stage_open(&stage, &ways);
	assert_int_equal(ibv_query_gid(stage.context, 1, 0, &gid), 0);
	stage_connect(stage.end[0].qp, &foreign, stage.end[1].qp->qp_num, &ways);
	stage_connect(stage.end[1].qp, &gid, stage.end[0].qp->qp_num, &ways);
	stage_receive(&stage, 64, 0);
	assert_int_equal(stage_post(&stage, &wr, 8), 0);
	assert_int_equal(stage_await(stage.end[0].cq).status, IBV_WC_RETRY_EXC_ERR);
	stage_close(&stage);
}

/* Messages that wait for a receive are delivered in order without action of the sender. */
static void test_waiting_for_a_receive(void **unused)
{
	struct stage stage;

	stage_open(&stage, &(struct stage_ways){.rnr_retry = 7});
	for (uint64_t i = 0; i < 3; i++) {
		struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};

		wr.wr_id = i;
		memset(stage.end[0].buffer, (int)i + 1, 8);
		assert_int_equal(stage_post(&stage, &wr, 8 + (uint32_t)i), 0);
	}
	assert_true(stage_is_empty(stage.end[0].cq));
	for (uint64_t i = 0; i < 3; i++)
		stage_receive(&stage, 64, i);
	for (uint64_t i = 0; i < 3; i++) {
		struct ibv_wc wc = stage_await(stage.end[1].cq);

		assert_int_equal(wc.wr_id, i);
		assert_int_equal(wc.byte_len, 8 + i);
		assert_int_equal(stage_await(stage.end[0].cq).wr_id, i);
	}
	stage_close(&stage);
}

/* Polling between ibv_wr_start and ibv_wr_abort must not deadlock. */
static void test_polls_between_start_and_end(void **unused)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_qp_ex *qp;
	struct stage stage;

	stage_open(&stage, &(struct stage_ways){.rnr_retry = 7});
	qp = ibv_qp_to_qp_ex(stage.end[0].qp);
	assert_int_equal(stage_post(&stage, &wr, 8), 0);
	alarm(20);
	for (int i = 0; i < 300; i++) {
		ibv_wr_start(qp);
		for (int polls = 0; polls < 300; polls++)
			assert_true(stage_is_empty(stage.end[0].cq));
		ibv_wr_abort(qp);
	}
	alarm(0);
	stage_receive(&stage, 8, 0);
	assert_int_equal(stage_await(stage.end[0].cq).status, IBV_WC_SUCCESS);
	stage_close(&stage);
}

static void test_flush(void **unused)
{
	struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
	struct stage stage;

	stage_open(&stage, &(struct stage_ways){.rnr_retry = 7});
	for (uint64_t i = 0; i < 3; i++) {
		struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .wr_id = i};

		assert_int_equal(stage_post(&stage, &wr, 8), 0);
	}
	assert_int_equal(ibv_modify_qp(stage.end[0].qp, &error, IBV_QP_STATE), 0);
	for (uint64_t i = 0; i < 3; i++) {
		struct ibv_wc wc = stage_await(stage.end[0].cq);

		assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
		assert_int_equal(wc.wr_id, i);
	}
	stage_receive(&stage, 64, 5);
	assert_int_equal(ibv_modify_qp(stage.end[1].qp, &error, IBV_QP_STATE), 0);
	stage_receive(&stage, 64, 6);
	for (uint64_t i = 5; i < 7; i++) {
		struct ibv_wc wc = stage_await(stage.end[1].cq);

		assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
		assert_int_equal(wc.opcode, IBV_WC_RECV);
		assert_int_equal(wc.wr_id, i);
	}
	stage_close(&stage);
}

/*
 * A completion queue that overruns causes one event, and stops the queue pairs that complete to it
 * (ibv_get_async_event(3), IBTA specification, 10.10.2.4). Its completions stay valid.
 */
static void test_overrun(void **unused)
{
	struct stage stage;

	stage_open(&stage, &(struct stage_ways){.cqe = 4});
	for (uint64_t i = 0; i < 6; i++) {
		struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};

		stage_receive(&stage, 64, i);
		assert_int_equal(stage_post(&stage, &wr, 8), 0);
	}
	assert_int_equal(stage_await_event(&stage), IBV_EVENT_CQ_ERR);
	assert_int_equal(stage_await_event(&stage), IBV_EVENT_QP_FATAL);
	assert_int_equal(stage_state(stage.end[1].qp), IBV_QPS_ERR);
	for (uint64_t i = 0; i < 4; i++)
		assert_int_equal(stage_await(stage.end[1].cq).wr_id, i);
	assert_true(stage_is_empty(stage.end[1].cq));
	stage_close(&stage);
}

/* A UC queue pair that fails still receives, and can return to RTS. */
static void test_unreliable_connection(void **unused)
{
	struct ibv_qp_attr recovered = {.qp_state = IBV_QPS_RTS};
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
	struct stage stage;

	stage_open(&stage, &(struct stage_ways){.type = IBV_QPT_UC});
	/* No receive is posted: the message is lost. */
	assert_int_equal(stage_post(&stage, &wr, 8), 0);
	assert_int_equal(stage_await(stage.end[0].cq).status, IBV_WC_SUCCESS);
	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.wr.rdma.rkey = stage.mr->rkey + 1;
	wr.sg_list = NULL;
	assert_int_equal(stage_post(&stage, &wr, 8), 0);
	assert_int_equal(stage_await(stage.end[0].cq).status, IBV_WC_SUCCESS);
	assert_int_equal(stage_state(stage.end[1].qp), IBV_QPS_RTS);
	stage.mr->lkey++;
	wr.sg_list = NULL;
	assert_int_equal(stage_post(&stage, &wr, 8), 0);
	stage.mr->lkey--;
	assert_int_equal(stage_await(stage.end[0].cq).status, IBV_WC_LOC_PROT_ERR);
	assert_int_equal(stage_state(stage.end[0].qp), IBV_QPS_SQE);
	assert_int_equal(ibv_modify_qp(stage.end[0].qp, &recovered, IBV_QP_STATE), 0);
	stage_receive(&stage, 64, 0);
	wr = (struct ibv_send_wr){.opcode = IBV_WR_SEND};
	assert_int_equal(stage_post(&stage, &wr, 8), 0);
	assert_int_equal(stage_await(stage.end[1].cq).status, IBV_WC_SUCCESS);
	wr = (struct ibv_send_wr){.opcode = IBV_WR_RDMA_READ};
	assert_int_equal(stage_post(&stage, &wr, 8), EINVAL);
	stage_close(&stage);
}

#ifdef HAVE_ATOMIC_WRITE
static struct ibv_wc write_atomically(struct stage *stage, uint64_t offset, uint64_t value)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(stage->end[0].qp);

	ibv_wr_start(qp);
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_write(qp, stage->mr->rkey, (uintptr_t)stage->end[1].buffer + offset, &value);
	assert_int_equal(ibv_wr_complete(qp), 0);
	return stage_await(stage->end[0].cq);
}

/* Eight bytes that are aligned, and need the right to write, not that for atomics. */
static void test_atomic_writes(void **unused)
{
	static const struct {
		unsigned int access;
		uint64_t offset;
		enum ibv_wc_status status;
	} cases[] = {
		{IBV_ACCESS_REMOTE_WRITE,  8,          IBV_WC_SUCCESS        },
		{IBV_ACCESS_REMOTE_WRITE,  12,         IBV_WC_REM_INV_REQ_ERR},
		{IBV_ACCESS_REMOTE_WRITE,  STAGE_HALF, IBV_WC_REM_ACCESS_ERR },
		{IBV_ACCESS_REMOTE_ATOMIC, 8,          IBV_WC_REM_INV_REQ_ERR},
	};
	const uint64_t value = 0x0123456789abcdef;

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct stage stage;
		struct ibv_wc wc;

		stage_open(&stage, &(struct stage_ways){.access = cases[i].access});
		memset(stage.end[1].buffer, 0, 24);
		wc = write_atomically(&stage, cases[i].offset, value);
		assert_int_equal(wc.status, cases[i].status);
		if (!wc.status) {
			assert_int_equal(wc.opcode, IBV_WC_ATOMIC_WRITE);
			assert_memory_equal(stage.end[1].buffer + 8, &value, 8);
			assert_int_equal(stage.end[1].buffer[16], 0);
		}
		stage_close(&stage);
	}
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_region_of_another_domain),
		cmocka_unit_test(test_access_of_a_region),
		cmocka_unit_test(test_deregistered_region),
		cmocka_unit_test(test_partitions),
		cmocka_unit_test(test_no_answer),
		cmocka_unit_test(test_unknown_gid),
		cmocka_unit_test(test_waiting_for_a_receive),
		cmocka_unit_test(test_polls_between_start_and_end),
		cmocka_unit_test(test_flush),
		cmocka_unit_test(test_overrun),
		cmocka_unit_test(test_unreliable_connection),
#ifdef HAVE_ATOMIC_WRITE
		cmocka_unit_test(test_atomic_writes),
#endif
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
