/* SPDX-License-Identifier: MIT */
/* Receives: the depth of receive queues, and the completions and events of receives. */
#include <errno.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "core/base/compiler.h"
#include "core/soft/device.h"
#include "core/soft/op/cq.h"
#include "core/soft/time.h"
#include "core/test/soft/stage.h"

enum {
	DEEP = SOFT_WR_MAX,
	LATE = 2 * DEEP, /* completions that are polled late */
};

/* Replaces end[1] of a stage by a queue pair of a given depth. */
struct receiver {
	struct stage stage;
	struct ibv_cq_ex *cq;
	struct ibv_qp *qp;
};

static void open_receiver(struct receiver *receiver, uint32_t depth, int cqe)
{
	struct stage *stage = &receiver->stage;
	const struct stage_ways ways = {.is_apart = true};
	struct ibv_cq_init_attr_ex queue = {.cqe = (uint32_t)cqe,
					    .wc_flags = IBV_WC_STANDARD_FLAGS};
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = 1, .max_recv_wr = depth, .max_recv_sge = 4},
		.qp_type = IBV_QPT_RC,
	};
	union ibv_gid gid;

	stage_open(stage, &ways);
	receiver->cq = ibv_create_cq_ex(stage->context, &queue);
	assert_non_null(receiver->cq);
	attr.send_cq = attr.recv_cq = ibv_cq_ex_to_cq(receiver->cq);
	receiver->qp = ibv_create_qp(stage->pd, &attr);
	assert_non_null(receiver->qp);
	assert_int_equal(attr.cap.max_recv_wr, depth);
	assert_int_equal(ibv_query_gid(stage->context, 1, 0, &gid), 0);
	stage_connect(receiver->qp, &gid, stage->end[0].qp->qp_num, &ways);
	stage_connect(stage->end[0].qp, &gid, receiver->qp->qp_num, &ways);
}

static void close_receiver(struct receiver *receiver)
{
	assert_int_equal(ibv_destroy_qp(receiver->qp), 0);
	assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(receiver->cq)), 0);
	stage_close(&receiver->stage);
}

static int receive(const struct receiver *receiver, uint64_t wr_id)
{
	struct ibv_recv_wr wr = {.wr_id = wr_id};
	struct ibv_recv_wr *bad;

	return ibv_post_recv(receiver->qp, &wr, &bad);
}

static void receive_until_full(const struct receiver *receiver, uint64_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(receive(receiver, first + i), 0);
	assert_int_equal(receive(receiver, 0), ENOMEM);
}

static void send_empty(const struct receiver *receiver, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
		struct ibv_send_wr *bad;

		assert_int_equal(ibv_post_send(receiver->stage.end[0].qp, &wr, &bad), 0);
	}
}

static void take(const struct receiver *receiver, uint64_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct ibv_wc wc = stage_await(ibv_cq_ex_to_cq(receiver->cq));

		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		assert_int_equal(wc.wr_id, first + i);
		assert_int_equal(wc.vendor_err, 0);
	}
}

/* Each polled completion makes room for one receive. */
static void test_full_queue(void **unused)
{
	struct receiver receiver;

	open_receiver(&receiver, STAGE_DEPTH, 64);
	receive_until_full(&receiver, 0, STAGE_DEPTH);
	for (uint64_t round = 0; round < 3; round++) {
		send_empty(&receiver, 5);
		take(&receiver, 5 * round, 5);
		receive_until_full(&receiver, STAGE_DEPTH + 5 * round, 5);
	}
	close_receiver(&receiver);
}

/*
 * Completions that are polled late, when the room of their receives has been reused, make no room.
 */
static void test_late_completions(void **unused)
{
	struct receiver receiver;

	open_receiver(&receiver, DEEP, 4 * DEEP);
	for (uint32_t done = 0; done < LATE; done += DEEP) {
		receive_until_full(&receiver, done, DEEP);
		send_empty(&receiver, DEEP);
	}
	receive_until_full(&receiver, LATE, DEEP);
	for (uint32_t i = 0; i < LATE; i++) {
		take(&receiver, i, 1);
		if (i % 1000 == 0)
			assert_int_equal(receive(&receiver, 0), ENOMEM);
	}
	send_empty(&receiver, DEEP);
	take(&receiver, LATE, DEEP);
	close_receiver(&receiver);
}

/* A reset discards receives and unpolled completions. */
static void test_reset(void **unused)
{
	const struct stage_ways ways = {0};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
	struct receiver receiver;
	struct ibv_qp *sender;
	union ibv_gid gid;

	open_receiver(&receiver, STAGE_DEPTH, 64);
	sender = receiver.stage.end[0].qp;
	assert_int_equal(ibv_query_gid(receiver.stage.context, 1, 0, &gid), 0);
	for (uint64_t round = 0; round < 3; round++) {
		receive_until_full(&receiver, 100 * round, STAGE_DEPTH);
		send_empty(&receiver, STAGE_DEPTH - 1);
		take(&receiver, 100 * round, 4);
		assert_int_equal(ibv_modify_qp(receiver.qp, &attr, IBV_QP_STATE), 0);
		assert_int_equal(ibv_modify_qp(sender, &attr, IBV_QP_STATE), 0);
		assert_true(stage_is_empty(ibv_cq_ex_to_cq(receiver.cq)));
		stage_connect(receiver.qp, &gid, sender->qp_num, &ways);
		stage_connect(sender, &gid, receiver.qp->qp_num, &ways);
	}
	close_receiver(&receiver);
}

/* The total length of a receive (four elements of 1 GiB) may exceed 32 bits. */
static void test_receive_of_4_gib(void **unused)
{
	size_t gibibyte = (size_t)1 << 30;
	void *memory = mmap(NULL, gibibyte, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct receiver receiver;
	struct ibv_sge pieces[4];
	struct ibv_recv_wr wr = {.wr_id = 7, .sg_list = pieces, .num_sge = 4};
	struct ibv_send_wr send = {.opcode = IBV_WR_SEND};
	struct ibv_recv_wr *bad;
	struct ibv_mr *mr;

	assert_ptr_not_equal(memory, MAP_FAILED);
	open_receiver(&receiver, STAGE_DEPTH, 64);
	mr = ibv_reg_mr(receiver.stage.pd, memory, gibibyte, IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(mr);
	for (size_t i = 0; i < ARRAY_LENGTH(pieces); i++)
		pieces[i] = (struct ibv_sge){(uintptr_t)memory, (uint32_t)gibibyte, mr->lkey};
	assert_int_equal(ibv_post_recv(receiver.qp, &wr, &bad), 0);
	memcpy(receiver.stage.end[0].buffer, "ten bytes", 10);
	assert_int_equal(stage_post(&receiver.stage, &send, 10), 0);
	take(&receiver, 7, 1);
	assert_memory_equal(memory, "ten bytes", 10);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	close_receiver(&receiver);
	munmap(memory, gibibyte);
}

/* Regions may be deregistered between ibv_start_poll and ibv_end_poll. */
static void test_deregistration_during_poll(void **unused)
{
	struct ibv_poll_cq_attr nothing = {0};
	struct receiver receiver;
	unsigned char memory[64];

	open_receiver(&receiver, STAGE_DEPTH, 64);
	receive_until_full(&receiver, 0, STAGE_DEPTH);
	send_empty(&receiver, 2);
	assert_int_equal(ibv_start_poll(receiver.cq, &nothing), 0);
	/* Also after ibv_next_poll has found no more completions. */
	for (uint64_t i = 0; i < 3; i++) {
		struct ibv_mr *mr = ibv_reg_mr(receiver.stage.pd, memory, sizeof(memory), 0);

		assert_non_null(mr);
		assert_int_equal(receiver.cq->wr_id, i < 2 ? i : 1);
		assert_int_equal(ibv_dereg_mr(mr), 0);
		if (i < 2)
			assert_int_equal(ibv_next_poll(receiver.cq), i ? ENOENT : 0);
	}
	ibv_end_poll(receiver.cq);
	close_receiver(&receiver);
}

static bool has_event(struct stage *stage)
{
	struct pollfd readable = {.fd = stage->channel->fd, .events = POLLIN};

	return poll(&readable, 1, 0) == 1;
}

/* Destroying a completion queue removes its pending event: the descriptor is not readable. */
static void test_destroying_cq_removes_event(void **unused)
{
	struct ibv_qp_attr begin = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct ibv_qp_attr end = {.qp_state = IBV_QPS_ERR};
	struct ibv_recv_wr wr = {.wr_id = 1};
	struct ibv_recv_wr *bad;
	struct stage stage;
	struct ibv_cq *cq;
	struct ibv_qp *qp;

	stage_open(&stage, &(struct stage_ways){0});
	cq = ibv_create_cq(stage.context, 16, NULL, stage.channel, 0);
	assert_non_null(cq);
	qp = ibv_create_qp(stage.pd,
			   &(struct ibv_qp_init_attr){
				   .send_cq = cq,
				   .recv_cq = cq,
				   .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_recv_sge = 1},
				   .qp_type = IBV_QPT_RC
        });
	assert_non_null(qp);
	assert_int_equal(
		ibv_modify_qp(qp, &begin,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
		0);
	assert_int_equal(ibv_post_recv(qp, &wr, &bad), 0);
	assert_int_equal(ibv_req_notify_cq(cq, 0), 0);
	assert_int_equal(ibv_modify_qp(qp, &end, IBV_QP_STATE), 0);
	assert_true(has_event(&stage));
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	assert_false(has_event(&stage));
	/* Other queues still get events. */
	assert_int_equal(ibv_req_notify_cq(stage.end[1].cq, 0), 0);
	stage_receive(&stage, 64, 0);
	assert_int_equal(stage_post(&stage, &(struct ibv_send_wr){.opcode = IBV_WR_SEND}, 8), 0);
	assert_true(has_event(&stage));
	stage_close(&stage);
}

/* A shared receive queue accepts only max_sge elements, even if its ring has more room. */
static void test_max_sge_of_shared_receives(void **unused)
{
	struct ibv_srq_init_attr init = {
		.attr = {.max_wr = 4, .max_sge = 1}
        };
	struct ibv_sge sge[2] = {0};
	struct ibv_recv_wr wr = {.sg_list = sge, .num_sge = 2};
	struct ibv_recv_wr *bad = NULL;
	struct stage stage;
	struct ibv_srq *srq;

	stage_open(&stage, &(struct stage_ways){0});
	srq = ibv_create_srq(stage.pd, &init);
	assert_non_null(srq);
	assert_int_equal(ibv_post_srq_recv(srq, &wr, &bad), EINVAL);
	assert_ptr_equal(bad, &wr);
	wr.num_sge = (int)init.attr.max_sge;
	assert_int_equal(ibv_post_srq_recv(srq, &wr, &bad), 0);
	assert_int_equal(ibv_destroy_srq(srq), 0);
	stage_close(&stage);
}

/*
 * Completions far in the future are a peer's mistake, and count as due. An outdated clock reading
 * must not make an early completion look like one.
 */
static void test_outdated_clock(void **unused)
{
	struct soft_completion entry = {.marks = SOFT_MARK_DUE};
	uint64_t now_ns = soft_time_ns();
	uint64_t old_ns = now_ns - 2 * SOFT_CQ_EARLY_NS;

	entry.time_ns = now_ns + SOFT_CQ_EARLY_NS / 2;
	assert_true(soft_cq_is_early(&entry, &old_ns) || soft_time_ns() >= entry.time_ns);
	assert_true(old_ns >= now_ns);
	old_ns = now_ns;
	entry.time_ns = now_ns;
	assert_false(soft_cq_is_early(&entry, &old_ns));
	assert_int_equal(old_ns, now_ns);
	entry.time_ns = now_ns + 60 * SOFT_SECOND_NS;
	assert_false(soft_cq_is_early(&entry, &old_ns));
	entry.marks = 0;
	entry.time_ns = now_ns + SOFT_CQ_EARLY_NS / 2;
	assert_false(soft_cq_is_early(&entry, &old_ns));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full_queue),
		cmocka_unit_test(test_late_completions),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_receive_of_4_gib),
		cmocka_unit_test(test_deregistration_during_poll),
		cmocka_unit_test(test_destroying_cq_removes_event),
		cmocka_unit_test(test_max_sge_of_shared_receives),
		cmocka_unit_test(test_outdated_clock),
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
