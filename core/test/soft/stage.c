/* SPDX-License-Identifier: MIT */
#include "core/test/soft/stage.h"

#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/soft/time.h"

enum {
	PATIENCE_S = 20,
	EVERY_ACCESS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
		       IBV_ACCESS_REMOTE_ATOMIC,
};

static char directory[] = "/tmp/soft-test-XXXXXX";

const char *stage_directory(void)
{
	return directory;
}

int stage_set_up(void **state)
{
	return mkdtemp(directory) && !setenv("VERBMARK_SOFT_DIR", directory, 1) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
	return remove(path);
}

int stage_tear_down(void **state)
{
	return nftw(directory, remove_one, 4, FTW_DEPTH | FTW_PHYS);
}

struct ibv_context *stage_open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context;

	assert_non_null(list);
	assert_non_null(list[0]);
	context = ibv_open_device(list[0]);
	assert_non_null(context);
	ibv_free_device_list(list);
	return context;
}

static void modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	assert_int_equal(ibv_modify_qp(qp, attr, IBV_QP_STATE | mask), 0);
}

static void initialize(struct ibv_qp *qp, const struct stage_ways *ways)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qkey = STAGE_QKEY,
		.qp_access_flags = ways->access ? ways->access : EVERY_ACCESS,
	};

	modify(qp, &attr,
	       IBV_QP_PKEY_INDEX | IBV_QP_PORT |
		       (qp->qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
}

void stage_connect(struct ibv_qp *qp, const union ibv_gid *gid, uint32_t number,
		   const struct stage_ways *ways)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = number,
		.rq_psn = STAGE_PSN,
		.sq_psn = STAGE_PSN,
		.ah_attr = {.is_global = 1, .port_num = 1, .grh.dgid = *gid},
		.max_rd_atomic = 16,
		.max_dest_rd_atomic = ways->no_reads ? 0 : 16,
		.min_rnr_timer = 1,
		.timeout = ways->timeout ? ways->timeout : 8,
		.retry_cnt = ways->retry_cnt,
		.rnr_retry = ways->rnr_retry,
	};
	int rtr = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	int rts = IBV_QP_SQ_PSN;

	initialize(qp, ways);
	if (qp->qp_type == IBV_QPT_RC || qp->qp_type == IBV_QPT_XRC_SEND ||
	    qp->qp_type == IBV_QPT_XRC_RECV) {
		rtr |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
		rts |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		       IBV_QP_MAX_QP_RD_ATOMIC;
	}
	modify(qp, &attr, qp->qp_type == IBV_QPT_UD ? 0 : rtr);
	attr.qp_state = IBV_QPS_RTS;
	modify(qp, &attr, rts);
}

static struct ibv_cq *create_cq(struct stage *stage, struct stage_end *end,
				const struct stage_ways *ways)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = ways->cqe ? (uint32_t)ways->cqe : 64,
		.cq_context = end,
		.channel = ways->no_channel ? NULL : stage->channel,
		.wc_flags = ways->wc_flags,
	};
	struct ibv_cq *cq;

	if (ways->wc_flags) {
		struct ibv_cq_ex *extended = ibv_create_cq_ex(stage->context, &attr);

		assert_non_null(extended);
		return ibv_cq_ex_to_cq(extended);
	}
	cq = ibv_create_cq(stage->context, (int)attr.cqe, end, attr.channel, 0);
	assert_non_null(cq);
	return cq;
}

static void open_end(struct stage *stage, unsigned int i, const struct stage_ways *ways)
{
	struct stage_end *end = &stage->end[i];
	struct ibv_qp_init_attr_ex attr = {
		.srq = i ? stage->srq : NULL,
		.cap = {.max_send_wr = STAGE_DEPTH,
			.max_recv_wr = STAGE_DEPTH,
			.max_send_sge = 4,
			.max_recv_sge = 4,
			.max_inline_data = STAGE_INLINE},
		.qp_type = ways->type ? ways->type : IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = stage->pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND,
	};

	end->buffer = stage->buffer + (size_t)i * STAGE_HALF;
	end->cq = create_cq(stage, end, ways);
	attr.send_cq = attr.recv_cq = end->cq;
	end->qp = ibv_create_qp_ex(stage->context, &attr);
	assert_non_null(end->qp);
}

static unsigned char *share(struct stage *stage)
{
	const size_t size = (size_t)2 * STAGE_HALF;
	void *memory;

	stage->file = memfd_create("stage", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_true(stage->file >= 0);
	assert_int_equal(ftruncate(stage->file, (off_t)size), 0);
	assert_int_equal(fcntl(stage->file, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, stage->file, 0);
	assert_true(memory != MAP_FAILED);
	return memory;
}

void stage_open(struct stage *stage, const struct stage_ways *ways)
{
	struct ibv_srq_init_attr srq = {
		.attr = {.max_wr = STAGE_DEPTH, .max_sge = 4}
        };
	union ibv_gid gid;

	memset(stage, 0, sizeof(*stage));
	stage->context = stage_open_device();
	stage->pd = ibv_alloc_pd(stage->context);
	stage->channel = ibv_create_comp_channel(stage->context);
	stage->file = -1;
	stage->buffer =
		ways->is_shared || getenv("SOFT_SHARED") ? share(stage) : calloc(2, STAGE_HALF);
	assert_non_null(stage->pd);
	assert_non_null(stage->channel);
	assert_non_null(stage->buffer);
	stage->mr = ibv_reg_mr(stage->pd, stage->buffer, (size_t)2 * STAGE_HALF, EVERY_ACCESS);
	assert_non_null(stage->mr);
	if (ways->with_srq) {
		stage->srq = ibv_create_srq(stage->pd, &srq);
		assert_non_null(stage->srq);
	}
	open_end(stage, 0, ways);
	open_end(stage, 1, ways);
	assert_int_equal(ibv_query_gid(stage->context, 1, 0, &gid), 0);
	for (unsigned int i = 0; i < 2 && !ways->is_apart; i++)
		stage_connect(stage->end[i].qp, &gid, stage->end[!i].qp->qp_num, ways);
}

void stage_close(struct stage *stage)
{
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(ibv_destroy_qp(stage->end[i].qp), 0);
		assert_int_equal(ibv_destroy_cq(stage->end[i].cq), 0);
	}
	if (stage->srq)
		assert_int_equal(ibv_destroy_srq(stage->srq), 0);
	assert_int_equal(ibv_dereg_mr(stage->mr), 0);
	assert_int_equal(ibv_destroy_comp_channel(stage->channel), 0);
	assert_int_equal(ibv_dealloc_pd(stage->pd), 0);
	assert_int_equal(ibv_close_device(stage->context), 0);
	if (stage->file < 0) {
		free(stage->buffer);
		return;
	}
	munmap(stage->buffer, (size_t)2 * STAGE_HALF);
	close(stage->file);
}

void stage_receive(struct stage *stage, uint32_t length, uint64_t wr_id)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)stage->end[1].buffer,
		.length = length,
		.lkey = stage->mr->lkey,
	};
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad;

	if (stage->srq)
		assert_int_equal(ibv_post_srq_recv(stage->srq, &wr, &bad), 0);
	else
		assert_int_equal(ibv_post_recv(stage->end[1].qp, &wr, &bad), 0);
}

int stage_post(struct stage *stage, struct ibv_send_wr *wr, uint32_t length)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)stage->end[0].buffer,
		.length = length,
		.lkey = stage->mr->lkey,
	};
	struct ibv_send_wr *bad;

	if (!wr->sg_list) {
		wr->sg_list = &sge;
		wr->num_sge = 1;
	}
	return ibv_post_send(stage->end[0].qp, wr, &bad);
}

struct ibv_wc stage_await(struct ibv_cq *cq)
{
	uint64_t deadline_ns = soft_time_ns() + PATIENCE_S * SOFT_SECOND_NS;
	struct ibv_wc wc;
	int count;

	while (!(count = ibv_poll_cq(cq, 1, &wc)))
		assert_true(soft_time_ns() < deadline_ns);
	assert_int_equal(count, 1);
	return wc;
}

bool stage_is_empty(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	return !ibv_poll_cq(cq, 1, &wc);
}

enum ibv_event_type stage_await_event(struct stage *stage)
{
	struct pollfd readable = {.fd = stage->context->async_fd, .events = POLLIN};
	struct ibv_async_event event;

	assert_int_equal(poll(&readable, 1, PATIENCE_S * 1000), 1);
	assert_int_equal(ibv_get_async_event(stage->context, &event), 0);
	ibv_ack_async_event(&event);
	return event.event_type;
}

enum ibv_qp_state stage_state(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;

	assert_int_equal(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
	return attr.qp_state;
}
