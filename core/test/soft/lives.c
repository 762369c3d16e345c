/* SPDX-License-Identifier: MIT */
/*
 * Queue pairs that are stopped, and used again: requests that their peer started before must not
 * touch memory afterwards, or affect the new connection.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/base/compiler.h"
#include "core/test/soft/stage.h"

enum {
	PAGE = 4096,
	PAGES = 32768,
	LONG_BYTES = PAGE * PAGES,
};

static unsigned char *make_memory(void)
{
	void *memory = mmap(NULL, LONG_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_true(memory != MAP_FAILED);
	return memory;
}

static struct ibv_mr *make_region(struct stage *stage)
{
	struct ibv_mr *mr = ibv_reg_mr(stage->pd, make_memory(), LONG_BYTES,
				       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);

	assert_non_null(mr);
	return mr;
}

static void free_region(struct ibv_mr *mr)
{
	void *memory = mr->addr;

	assert_int_equal(ibv_dereg_mr(mr), 0);
	munmap(memory, LONG_BYTES);
}

struct long_write {
	struct stage *stage;
	struct ibv_mr *here;
	struct ibv_mr *there;
	int result;
};

static void *write_long(void *argument)
{
	struct long_write *write = argument;
	struct ibv_sge sge = {
		.addr = (uintptr_t)write->here->addr,
		.length = LONG_BYTES,
		.lkey = write->here->lkey,
	};
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma = {.remote_addr = (uintptr_t)write->there->addr,
			    .rkey = write->there->rkey},
	};

	write->result = stage_post(write->stage, &wr, LONG_BYTES);
	return NULL;
}

/* Copies one byte per page while another thread writes. */
__attribute__((no_sanitize("thread"))) static void look(const struct ibv_mr *mr,
							unsigned char seen[static PAGES])
{
	const volatile unsigned char *memory = mr->addr;

	for (size_t i = 0; i < PAGES; i++)
		seen[i] = memory[i * PAGE];
}

static void await_beginning(const struct ibv_mr *mr)
{
	static const unsigned char nothing[PAGES];
	static unsigned char seen[PAGES];

	do
		look(mr, seen);
	while (!memcmp(seen, nothing, sizeof(seen)));
}

static void modify(struct ibv_qp *qp, enum ibv_qp_state to)
{
	struct ibv_qp_attr attr = {.qp_state = to};

	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
}

static void stop_by_destroying(struct stage *stage)
{
	struct ibv_qp_init_attr init = {
		.send_cq = stage->end[1].cq,
		.recv_cq = stage->end[1].cq,
		.qp_type = IBV_QPT_RC,
	};

	assert_int_equal(ibv_destroy_qp(stage->end[1].qp), 0);
	stage->end[1].qp = ibv_create_qp(stage->pd, &init);
	assert_non_null(stage->end[1].qp);
}

static void stop_by_error(struct stage *stage)
{
	modify(stage->end[1].qp, IBV_QPS_ERR);
}

static void stop_by_reset(struct stage *stage)
{
	modify(stage->end[1].qp, IBV_QPS_RESET);
}

/*
 * Checks that nothing is written after the queue pair was stopped. Returns whether the write was
 * still in progress then.
 */
static bool check_stop(void stop(struct stage *stage))
{
	static unsigned char before[PAGES];
	static unsigned char after[PAGES];
	struct stage stage;
	struct long_write write = {.stage = &stage};
	pthread_t thread;
	bool is_writing;

	stage_open(&stage, &(struct stage_ways){0});
	write.here = make_region(&stage);
	write.there = make_region(&stage);
	memset(write.here->addr, 0xff, LONG_BYTES);
	memset(write.there->addr, 0, LONG_BYTES);
	assert_int_equal(pthread_create(&thread, NULL, write_long, &write), 0);
	await_beginning(write.there);
	look(write.there, before);
	is_writing = memchr(before, 0, PAGES);
	stop(&stage);
	look(write.there, before);
	pthread_join(thread, NULL);
	look(write.there, after);
	assert_int_equal(write.result, 0);
	assert_memory_equal(before, after, PAGES);
	stage_await(stage.end[0].cq);
	free_region(write.here);
	free_region(write.there);
	stage_close(&stage);
	return is_writing;
}

/*
 * IBTA specification, 10.3.1: in these states a queue pair accepts no requests. An attempt proves
 * nothing if the write was complete before the queue pair was stopped.
 */
static void test_stops_writes(void **unused)
{
	static void (*const stops[])(struct stage *) = {stop_by_error, stop_by_reset,
							stop_by_destroying};

	for (size_t i = 0; i < ARRAY_LENGTH(stops); i++) {
		size_t tries = 0;

		while (!check_stop(stops[i]))
			assert_true(++tries < 50);
	}
}

/* Posts an invalid WRITE to end[1], which stops end[0]. */
static void offend(struct stage *stage)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)stage->end[1].buffer,
		.length = 8,
		.lkey = stage->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma = {.remote_addr = (uintptr_t)stage->end[0].buffer,
			    .rkey = stage->mr->rkey + 1},
	};
	struct ibv_send_wr *bad;

	assert_int_equal(ibv_post_send(stage->end[1].qp, &wr, &bad), 0);
	assert_int_equal(stage_await(stage->end[1].cq).status, IBV_WC_REM_ACCESS_ERR);
}

/* IBTA specification, 10.3.1: requests that were posted in SQD are flushed, too. */
static void test_flushes_requests_posted_in_sqd(void **unused)
{
	struct ibv_send_wr wr = {.wr_id = 7, .opcode = IBV_WR_SEND};
	struct stage stage;
	struct ibv_wc wc;

	stage_open(&stage, &(struct stage_ways){0});
	modify(stage.end[0].qp, IBV_QPS_SQD);
	assert_int_equal(stage_post(&stage, &wr, 8), 0);
	assert_true(stage_is_empty(stage.end[0].cq));
	offend(&stage);
	wc = stage_await(stage.end[0].cq);
	assert_int_equal(wc.wr_id, 7);
	assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
	stage_close(&stage);
}

static int post_receive(struct stage *stage, unsigned int end, uint64_t wr_id)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)stage->end[end].buffer,
		.length = 64,
		.lkey = stage->mr->lkey,
	};
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad;

	if (end && stage->srq)
		return ibv_post_srq_recv(stage->srq, &wr, &bad);
	return ibv_post_recv(stage->end[end].qp, &wr, &bad);
}

static int post_send(struct stage *stage, unsigned int end, uint64_t wr_id)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)stage->end[end].buffer + STAGE_HALF / 2,
		.length = 8,
		.lkey = stage->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = wr_id,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
	};
	struct ibv_send_wr *bad;

	return ibv_post_send(stage->end[end].qp, &wr, &bad);
}

static void check_next(struct ibv_cq *cq, uint64_t wr_id)
{
	struct ibv_wc wc = stage_await(cq);

	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.wr_id, wr_id);
}

/*
 * Fills the queues with messages, polls only the first one, and leaves a posted receive without a
 * message.
 */
static void live(struct stage *stage, unsigned int from, uint64_t number)
{
	for (uint64_t i = 0; i < STAGE_DEPTH; i++)
		assert_int_equal(post_receive(stage, !from, number + i), 0);
	assert_int_equal(post_receive(stage, !from, 0), ENOMEM);
	for (uint64_t i = 0; i < STAGE_DEPTH; i++)
		assert_int_equal(post_send(stage, from, number + i), 0);
	check_next(stage->end[from].cq, number);
	check_next(stage->end[!from].cq, number);
	assert_int_equal(post_receive(stage, !from, 0), 0);
}

/* IBTA specification, 10.3.1: a reset discards all previous requests and completions. */
static void test_reuse_after_reset(void **unused)
{
	struct stage_ways ways = {0};
	union ibv_gid gid;
	struct stage stage;

	stage_open(&stage, &ways);
	assert_int_equal(ibv_query_gid(stage.context, 1, 0, &gid), 0);
	for (uint64_t i = 1; i <= 20; i++) {
		live(&stage, i % 2, i << 32);
		for (unsigned int j = 0; j < 2; j++) {
			modify(stage.end[j].qp, i % 3 ? IBV_QPS_RESET : IBV_QPS_ERR);
			modify(stage.end[j].qp, IBV_QPS_RESET);
		}
		assert_true(stage_is_empty(stage.end[0].cq));
		assert_true(stage_is_empty(stage.end[1].cq));
		for (unsigned int j = 0; j < 2; j++)
			stage_connect(stage.end[j].qp, &gid, stage.end[!j].qp->qp_num, &ways);
	}
	stage_close(&stage);
}

static void test_full_receive_queue(void **unused)
{
	for (int with_srq = 0; with_srq < 2; with_srq++) {
		struct stage stage;

		stage_open(&stage, &(struct stage_ways){.with_srq = with_srq});
		for (uint64_t i = 0; i < STAGE_DEPTH; i++)
			assert_int_equal(post_receive(&stage, 1, i), 0);
		for (uint64_t i = 0; i < (uint64_t)3 * STAGE_DEPTH; i++) {
			assert_int_equal(post_receive(&stage, 1, 0), ENOMEM);
			assert_int_equal(post_send(&stage, 0, i), 0);
			check_next(stage.end[0].cq, i);
			check_next(stage.end[1].cq, i);
			assert_int_equal(post_receive(&stage, 1, i + STAGE_DEPTH), 0);
		}
		stage_close(&stage);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stops_writes),
		cmocka_unit_test(test_flushes_requests_posted_in_sqd),
		cmocka_unit_test(test_reuse_after_reset),
		cmocka_unit_test(test_full_receive_queue),
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
