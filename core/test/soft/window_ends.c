/* SPDX-License-Identifier: MIT */
/* Memory windows whose region, queue pair or process ends. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/soft/memory/region.h"
#include "core/soft/peer/process.h"
#include "core/test/soft/pair.h"

enum {
	LENGTH = 64,
};

static struct ibv_mr *register_memory(const struct stage *stage)
{
	struct ibv_mr *mr = ibv_reg_mr(stage->pd, stage->end[1].buffer, LENGTH,
				       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);

	assert_non_null(mr);
	return mr;
}

static struct ibv_mw *allocate(const struct stage *stage)
{
	struct ibv_mw *mw = ibv_alloc_mw(stage->pd, IBV_MW_TYPE_2);

	assert_non_null(mw);
	return mw;
}

static void post(struct ibv_qp *qp, struct ibv_send_wr wr)
{
	struct ibv_send_wr *bad;

	wr.send_flags = IBV_SEND_SIGNALED;
	assert_int_equal(ibv_post_send(qp, &wr, &bad), 0);
	assert_int_equal(stage_await(qp->send_cq).status, IBV_WC_SUCCESS);
}

/* Returns the key. */
static uint32_t bind_window(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mr *mr)
{
	const struct ibv_send_wr wr = {
		.opcode = IBV_WR_BIND_MW,
		.bind_mw = {mw,
			    ibv_inc_rkey(mw->rkey),
			    {mr, (uintptr_t)mr->addr, LENGTH, IBV_ACCESS_REMOTE_WRITE}},
	};

	post(qp, wr);
	return wr.bind_mw.rkey;
}

/* Returns a queue pair that can bind windows; no peer is connected to it. */
static struct ibv_qp *create_binder(const struct stage *stage, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = stage->end[1].cq,
		.recv_cq = type == IBV_QPT_RC ? stage->end[1].cq : NULL,
		.cap = {.max_send_wr = 1, .max_send_sge = 1},
		.qp_type = type,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = stage->pd,
		.send_ops_flags = IBV_QP_EX_WITH_BIND_MW,
	};
	struct ibv_qp *qp = ibv_create_qp_ex(stage->context, &attr);
	union ibv_gid gid;

	assert_non_null(qp);
	assert_int_equal(ibv_query_gid(stage->context, 1, 0, &gid), 0);
	stage_connect(qp, &gid, stage->end[0].qp->qp_num, &(struct stage_ways){0});
	return qp;
}

static struct ibv_xrcd *open_domain(const struct stage *stage, int fd)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = fd,
		.oflags = O_CREAT | O_EXCL,
	};
	struct ibv_xrcd *xrcd = ibv_open_xrcd(stage->context, &attr);

	assert_non_null(xrcd);
	return xrcd;
}

static int file;

/* In the parent, a window is bound to the region with the first key. */
static void bind_other_region(struct pair *pair)
{
	const struct stage *stage = &pair->stage;
	struct ibv_mr *first = register_memory(stage);
	struct ibv_mw *mw = allocate(stage);
	struct ibv_mr *second = register_memory(stage);
	struct ibv_xrcd *xrcd = open_domain(stage, file);
	uint32_t key;

	pair_receive(pair->socket, &key, sizeof(key));
	assert_int_equal(first->lkey, key);
	bind_window(stage->end[0].qp, mw, second);
	assert_int_equal(ibv_dereg_mr(first), 0);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
	assert_int_equal(ibv_dereg_mr(second), 0);
	assert_int_equal(ibv_close_xrcd(xrcd), 0);
}

/* A forked child has neither the windows nor the XRC domains of its parent. */
static void test_forked_child(void **unused)
{
#ifdef __has_feature
#if __has_feature(address_sanitizer)
	print_message("# AddressSanitizer's allocator may deadlock in a forked child\n");
	return;
#endif
#endif
	struct stage open;
	struct pair pair;
	struct ibv_xrcd *xrcd;
	struct ibv_mr *mr;
	struct ibv_mw *mw;

	file = memfd_create("domain", MFD_CLOEXEC);
	stage_open(&open, &(struct stage_ways){0});
	mr = register_memory(&open);
	mw = allocate(&open);
	bind_window(open.end[1].qp, mw, mr);
	xrcd = open_domain(&open, file);
	pair_set_up(&pair, bind_other_region, &(struct stage_ways){0});
	pair_send(pair.socket, &mr->lkey, sizeof(mr->lkey));
	pair_tear_down(&pair);
	assert_int_equal(ibv_close_xrcd(xrcd), 0);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	stage_close(&open);
	close(file);
}

/* A peer that revives the key of an invalidated window does not reach deregistered memory. */
static void test_revived_window(void **unused)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED};
	struct stage stage;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	uint32_t key;

	stage_open(&stage, &(struct stage_ways){0});
	mr = register_memory(&stage);
	mw = allocate(&stage);
	key = bind_window(stage.end[1].qp, mw, mr);
	post(stage.end[1].qp,
	     (struct ibv_send_wr){.opcode = IBV_WR_LOCAL_INV, .invalidate_rkey = key});
	assert_int_equal(ibv_dereg_mr(mr), 0);
	atomic_store(&soft_process.arena.image->revoked[soft_region_number(key)], 0);
	wr.wr.rdma.remote_addr = (uintptr_t)stage.end[1].buffer;
	wr.wr.rdma.rkey = key;
	assert_int_equal(stage_post(&stage, &wr, 1), 0);
	assert_int_equal(stage_await(stage.end[0].cq).status, IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
	stage_close(&stage);
}

static void test_destroyed_queue_pair(void **unused)
{
	struct stage stage;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct ibv_mw *mw;

	stage_open(&stage, &(struct stage_ways){0});
	mr = register_memory(&stage);
	mw = allocate(&stage);
	qp = create_binder(&stage, IBV_QPT_RC);
	bind_window(qp, mw, mr);
	assert_int_equal(ibv_dereg_mr(mr), EBUSY);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
	stage_close(&stage);
}

/* A bind has no destination, and ignores one. */
static void test_bind_with_destination(void **unused)
{
	struct stage stage;
	struct ibv_mw_bind_info info;
	struct ibv_qp_ex *qpx;
	struct ibv_mw *mw;

	stage_open(&stage, &(struct stage_ways){0});
	mw = allocate(&stage);
	info = (struct ibv_mw_bind_info){register_memory(&stage), (uintptr_t)stage.end[1].buffer,
					 LENGTH, IBV_ACCESS_REMOTE_WRITE};
	qpx = ibv_qp_to_qp_ex(create_binder(&stage, IBV_QPT_XRC_SEND));
	ibv_wr_start(qpx);
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_bind_mw(qpx, mw, ibv_inc_rkey(mw->rkey), &info);
	ibv_wr_set_xrc_srqn(qpx, 5);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	assert_int_equal(stage_await(stage.end[1].cq).status, IBV_WC_SUCCESS);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
	assert_int_equal(ibv_dereg_mr(info.mr), 0);
	assert_int_equal(ibv_destroy_qp(&qpx->qp_base), 0);
	stage_close(&stage);
}

int main(void)
{
	/* The test with a child comes first, so that the keys of both processes are the same. */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_forked_child, pair_end_child),
		cmocka_unit_test(test_revived_window),
		cmocka_unit_test(test_destroyed_queue_pair),
		cmocka_unit_test(test_bind_with_destination),
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
