/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/test/soft/pair.h"

#define READ  ((unsigned int)IBV_ACCESS_REMOTE_READ)
#define WRITE ((unsigned int)IBV_ACCESS_REMOTE_WRITE)
#define ZERO  ((unsigned int)IBV_ACCESS_ZERO_BASED)

enum {
	START = 16, /* of the window in the region, */
	LENGTH = 64,
	REGION = 4096, /* which is at the start of end[1]'s half */
	LARGE = 300000,
};

/* A stage with a region and a window of end[1], which end[0] accesses. */
struct scene {
	struct stage stage;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	uint32_t rkey; /* of the window, after it is bound */
};

static void open_scene(struct scene *scene, enum ibv_mw_type type)
{
	stage_open(&scene->stage, &(struct stage_ways){0});
	scene->mr = ibv_reg_mr(scene->stage.pd, scene->stage.end[1].buffer, REGION,
			       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	assert_non_null(scene->mr);
	scene->mw = ibv_alloc_mw(scene->stage.pd, type);
	assert_non_null(scene->mw);
	assert_int_equal(scene->mw->type, type);
	scene->rkey = ibv_inc_rkey(scene->mw->rkey);
}

static void close_scene(struct scene *scene)
{
	assert_int_equal(ibv_dealloc_mw(scene->mw), 0);
	assert_int_equal(ibv_dereg_mr(scene->mr), 0);
	stage_close(&scene->stage);
}

static uint64_t address_of(const struct scene *scene, uint64_t offset)
{
	return (uintptr_t)scene->stage.end[1].buffer + offset;
}

static struct ibv_mw_bind_info info_of(const struct scene *scene, unsigned int access)
{
	return (struct ibv_mw_bind_info){scene->mr, address_of(scene, START), LENGTH, access};
}

/* Binds the scene's window of type 2 by the queue pair of that end, and returns the status. */
static enum ibv_wc_status bind_by(struct scene *scene, size_t end,
				  const struct ibv_mw_bind_info *info)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {scene->mw, scene->rkey, *info},
	};
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	assert_int_equal(ibv_post_send(scene->stage.end[end].qp, &wr, &bad), 0);
	wc = stage_await(scene->stage.end[end].cq);
	if (wc.status == IBV_WC_SUCCESS)
		assert_int_equal(wc.opcode, IBV_WC_BIND_MW);
	return wc.status;
}

static void bind_window(struct scene *scene, unsigned int access)
{
	const struct ibv_mw_bind_info info = info_of(scene, access);

	assert_int_equal(bind_by(scene, 1, &info), IBV_WC_SUCCESS);
}

static enum ibv_wc_status invalidate(struct scene *scene, uint32_t rkey)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_LOCAL_INV,
		.send_flags = IBV_SEND_SIGNALED,
		.invalidate_rkey = rkey,
	};
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	assert_int_equal(ibv_post_send(scene->stage.end[1].qp, &wr, &bad), 0);
	wc = stage_await(scene->stage.end[1].cq);
	if (wc.status == IBV_WC_SUCCESS)
		assert_int_equal(wc.opcode, IBV_WC_LOCAL_INV);
	return wc.status;
}

static enum ibv_wc_status reach(struct scene *scene, enum ibv_wr_opcode opcode, uint64_t remote,
				uint32_t length, uint32_t rkey)
{
	struct ibv_send_wr wr = {
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {remote, rkey},
	};

	assert_int_equal(stage_post(&scene->stage, &wr, length), 0);
	return stage_await(scene->stage.end[0].cq).status;
}

static enum ibv_wc_status write_to(struct scene *scene, uint32_t rkey)
{
	return reach(scene, IBV_WR_RDMA_WRITE, address_of(scene, START), LENGTH, rkey);
}

static void test_bounds_and_rights(void **unused)
{
	static const struct {
		unsigned int access;
		enum ibv_wr_opcode opcode;
		uint64_t offset;
		uint32_t length;
		bool is_allowed;
	} cases[] = {
		{WRITE,               IBV_WR_RDMA_WRITE, START,              LENGTH,     true },
		{WRITE,               IBV_WR_RDMA_WRITE, START + LENGTH - 1, 1,          true },
		{WRITE,               IBV_WR_RDMA_WRITE, START - 1,          LENGTH,     false},
		{WRITE,               IBV_WR_RDMA_WRITE, START,              LENGTH + 1, false},
		{WRITE,               IBV_WR_RDMA_WRITE, START + LENGTH,     1,          false},
		{WRITE,               IBV_WR_RDMA_READ,  START,              LENGTH,     false},
		{READ,                IBV_WR_RDMA_READ,  START,              LENGTH,     true },
		{READ,                IBV_WR_RDMA_WRITE, START,              LENGTH,     false},
		{READ | WRITE | ZERO, IBV_WR_RDMA_READ,  0,                  LENGTH,     true },
		{READ | WRITE | ZERO, IBV_WR_RDMA_WRITE, LENGTH - 1,         1,          true },
		{READ | WRITE | ZERO, IBV_WR_RDMA_WRITE, 1,                  LENGTH,     false},
		{READ | WRITE | ZERO, IBV_WR_RDMA_WRITE, UINT64_MAX,         1,          false},
	};
	struct scene scene;

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		uint64_t base;

		open_scene(&scene, IBV_MW_TYPE_2);
		bind_window(&scene, cases[i].access);
		base = cases[i].access & ZERO ? 0 : address_of(&scene, 0);
		assert_int_equal(reach(&scene, cases[i].opcode, base + cases[i].offset,
				       cases[i].length, scene.rkey),
				 cases[i].is_allowed ? IBV_WC_SUCCESS : IBV_WC_REM_ACCESS_ERR);
		close_scene(&scene);
	}
}

/* Zero-based accesses reach the bytes of the window, not those of the region. */
static void test_zero_based_place(void **unused)
{
	struct scene scene;

	open_scene(&scene, IBV_MW_TYPE_2);
	bind_window(&scene, WRITE | ZERO);
	memset(scene.stage.end[1].buffer, 0, REGION);
	memset(scene.stage.end[0].buffer, 7, 1);
	assert_int_equal(reach(&scene, IBV_WR_RDMA_WRITE, 2, 1, scene.rkey), IBV_WC_SUCCESS);
	assert_int_equal(scene.stage.end[1].buffer[START + 2], 7);
	assert_int_equal(scene.stage.end[1].buffer[2], 0);
	close_scene(&scene);
}

/* The region has no remote rights of its own, and a window's key is none for local memory. */
static void test_keys(void **unused)
{
	struct ibv_send_wr *bad;
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_sge sge;
	struct scene scene;

	open_scene(&scene, IBV_MW_TYPE_2);
	bind_window(&scene, READ | WRITE);
	assert_int_equal(write_to(&scene, scene.mr->rkey), IBV_WC_REM_ACCESS_ERR);
	close_scene(&scene);
	open_scene(&scene, IBV_MW_TYPE_2);
	bind_window(&scene, READ | WRITE);
	sge = (struct ibv_sge){address_of(&scene, START), LENGTH, scene.rkey};
	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.wr.rdma.remote_addr = (uintptr_t)scene.stage.end[0].buffer;
	wr.wr.rdma.rkey = scene.stage.mr->rkey;
	assert_int_equal(ibv_post_send(scene.stage.end[1].qp, &wr, &bad), 0);
	assert_int_equal(stage_await(scene.stage.end[1].cq).status, IBV_WC_LOC_PROT_ERR);
	close_scene(&scene);
}

/* Type 2 is usable only by the queue pair that bound it, type 1 by all of its domain. */
static void test_queue_pairs(void **unused)
{
	struct ibv_mw_bind bind = {.send_flags = IBV_SEND_SIGNALED, .wr_id = 5};
	struct ibv_mw_bind_info info;
	struct scene scene;
	struct ibv_wc wc;

	open_scene(&scene, IBV_MW_TYPE_2);
	info = info_of(&scene, WRITE);
	assert_int_equal(bind_by(&scene, 0, &info), IBV_WC_SUCCESS);
	assert_int_equal(write_to(&scene, scene.rkey), IBV_WC_REM_ACCESS_ERR);
	close_scene(&scene);
	open_scene(&scene, IBV_MW_TYPE_1);
	bind.bind_info = info_of(&scene, WRITE);
	assert_int_equal(ibv_bind_mw(scene.stage.end[0].qp, scene.mw, &bind), 0);
	wc = stage_await(scene.stage.end[0].cq);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, IBV_WC_BIND_MW);
	assert_int_equal(wc.wr_id, 5);
	assert_int_equal(write_to(&scene, scene.mw->rkey), IBV_WC_SUCCESS);
	close_scene(&scene);
}

static void bind_type_1(struct scene *scene, uint64_t length)
{
	struct ibv_mw_bind bind = {.send_flags = IBV_SEND_SIGNALED};

	bind.bind_info = info_of(scene, WRITE);
	bind.bind_info.length = length;
	assert_int_equal(ibv_bind_mw(scene->stage.end[1].qp, scene->mw, &bind), 0);
	assert_int_equal(stage_await(scene->stage.end[1].cq).status, IBV_WC_SUCCESS);
}

/* Each binding of a type 1 window has a new key; one without a length leaves no valid key. */
static void test_type_1_is_bound_again(void **unused)
{
	struct scene scene;
	uint32_t first;

	open_scene(&scene, IBV_MW_TYPE_1);
	bind_type_1(&scene, LENGTH);
	first = scene.mw->rkey;
	assert_int_equal(write_to(&scene, first), IBV_WC_SUCCESS);
	bind_type_1(&scene, LENGTH);
	assert_int_not_equal(scene.mw->rkey, first);
	assert_int_equal(write_to(&scene, scene.mw->rkey), IBV_WC_SUCCESS);
	assert_int_equal(write_to(&scene, first), IBV_WC_REM_ACCESS_ERR);
	close_scene(&scene);
	open_scene(&scene, IBV_MW_TYPE_1);
	bind_type_1(&scene, LENGTH);
	bind_type_1(&scene, 0);
	assert_int_equal(ibv_dereg_mr(scene.mr), 0);
	assert_int_equal(write_to(&scene, scene.mw->rkey), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(ibv_dealloc_mw(scene.mw), 0);
	stage_close(&scene.stage);
}

static void test_local_invalidation(void **unused)
{
	struct scene scene;
	uint32_t first;

	open_scene(&scene, IBV_MW_TYPE_2);
	for (int i = 0; i < 300; i++) {
		bind_window(&scene, WRITE);
		assert_int_equal(write_to(&scene, scene.rkey), IBV_WC_SUCCESS);
		assert_int_equal(invalidate(&scene, scene.rkey), IBV_WC_SUCCESS);
		first = scene.rkey;
		scene.rkey = ibv_inc_rkey(scene.rkey);
	}
	assert_int_equal(invalidate(&scene, first), IBV_WC_SUCCESS);
	assert_int_equal(write_to(&scene, first), IBV_WC_REM_ACCESS_ERR);
	close_scene(&scene);
}

/* Neither a region, a window of type 1, a stale key nor none can be invalidated. */
static void test_invalid_invalidations(void **unused)
{
	struct scene scene;
	uint32_t keys[4] = {0};

	for (size_t i = 0; i < ARRAY_LENGTH(keys); i++) {
		open_scene(&scene, i == 1 ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2);
		if (i == 1)
			bind_type_1(&scene, LENGTH);
		else
			bind_window(&scene, WRITE);
		keys[0] = scene.mr->rkey;
		keys[1] = scene.mw->rkey;
		keys[2] = ibv_inc_rkey(scene.rkey);
		assert_int_equal(invalidate(&scene, keys[i]), IBV_WC_LOC_QP_OP_ERR);
		close_scene(&scene);
	}
}

static struct ibv_wc send_inv(struct scene *scene, uint32_t rkey, enum ibv_wc_status status)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND_WITH_INV,
		.send_flags = IBV_SEND_SIGNALED,
		.invalidate_rkey = rkey,
	};

	stage_receive(&scene->stage, REGION, 9);
	assert_int_equal(stage_post(&scene->stage, &wr, 8), 0);
	assert_int_equal(stage_await(scene->stage.end[0].cq).status, status);
	return stage_await(scene->stage.end[1].cq);
}

static void check_invalidated(const struct scene *scene, const struct ibv_wc *wc)
{
	assert_int_equal(wc->status, IBV_WC_SUCCESS);
	assert_int_equal(wc->opcode, IBV_WC_RECV);
	assert_int_equal(wc->wc_flags, IBV_WC_WITH_INV);
	assert_int_equal(wc->invalidated_rkey, scene->rkey);
	assert_int_equal(wc->byte_len, 8);
}

/* The SEND invalidates the window, which is then bound again and frees the region. */
static void test_send_with_invalidate(void **unused)
{
	struct scene scene;
	struct ibv_wc wc;

	open_scene(&scene, IBV_MW_TYPE_2);
	for (int i = 0; i < 3; i++) {
		bind_window(&scene, WRITE);
		assert_int_equal(write_to(&scene, scene.rkey), IBV_WC_SUCCESS);
		assert_int_equal(ibv_dereg_mr(scene.mr), EBUSY);
		memset(scene.stage.end[0].buffer, 40 + i, 8);
		wc = send_inv(&scene, scene.rkey, IBV_WC_SUCCESS);
		check_invalidated(&scene, &wc);
		assert_int_equal(scene.stage.end[1].buffer[7], 40 + i);
		scene.rkey = ibv_inc_rkey(scene.rkey);
	}
	assert_int_equal(ibv_dereg_mr(scene.mr), 0);
	assert_int_equal(ibv_dealloc_mw(scene.mw), 0);
	stage_close(&scene.stage);
	open_scene(&scene, IBV_MW_TYPE_2);
	bind_window(&scene, WRITE);
	send_inv(&scene, scene.rkey, IBV_WC_SUCCESS);
	assert_int_equal(write_to(&scene, scene.rkey), IBV_WC_REM_ACCESS_ERR);
	close_scene(&scene);
}

static void test_send_with_wrong_key(void **unused)
{
	struct scene scene;
	struct ibv_mw_bind_info info;

	for (int i = 0; i < 3; i++) {
		open_scene(&scene, IBV_MW_TYPE_2);
		info = info_of(&scene, WRITE);
		/* The wrong key, the key of a region, and the window of another queue pair. */
		assert_int_equal(bind_by(&scene, i == 2 ? 0 : 1, &info), IBV_WC_SUCCESS);
		assert_int_equal(send_inv(&scene,
					  i == 0   ? ibv_inc_rkey(scene.rkey)
					  : i == 1 ? scene.mr->rkey
						   : scene.rkey,
					  IBV_WC_REM_ACCESS_ERR)
					 .status,
				 IBV_WC_REM_INV_REQ_ERR);
		close_scene(&scene);
	}
}

static void test_invalid_bindings(void **unused)
{
	static const struct {
		uint64_t offset;
		uint64_t length;
		unsigned int access;
		enum {
			OWN,
			UNBINDABLE, /* without IBV_ACCESS_MW_BIND */
			CONSTANT,   /* without IBV_ACCESS_LOCAL_WRITE */
			FOREIGN,    /* of another protection domain */
			NONE,
		} region;
	} cases[] = {
		{0,          REGION + 1, READ,                   OWN       },
		{REGION,     1,          READ,                   OWN       },
		{UINT64_MAX, 1,          READ,                   OWN       },
		{0,          0,          READ,                   OWN       },
		{0,          LENGTH,     IBV_ACCESS_LOCAL_WRITE, OWN       },
		{0,          LENGTH,     READ,                   UNBINDABLE},
		{0,          LENGTH,     WRITE,                  CONSTANT  },
		{0,          LENGTH,     READ,                   FOREIGN   },
		{0,          LENGTH,     READ,                   NONE      },
	};
	static const int accesses[] = {
		[UNBINDABLE] = IBV_ACCESS_LOCAL_WRITE,
		[CONSTANT] = IBV_ACCESS_MW_BIND,
		[FOREIGN] = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND,
	};
	struct scene scene;

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct ibv_mw_bind_info info;
		struct ibv_mr *other = NULL;
		struct ibv_pd *pd;

		open_scene(&scene, IBV_MW_TYPE_2);
		pd = ibv_alloc_pd(scene.stage.context);
		if (cases[i].region != OWN && cases[i].region != NONE)
			other = ibv_reg_mr(cases[i].region == FOREIGN ? pd : scene.stage.pd,
					   scene.stage.end[1].buffer, REGION,
					   accesses[cases[i].region]);
		info = (struct ibv_mw_bind_info){
			.mr = cases[i].region == OWN ? scene.mr : other,
			.addr = address_of(&scene, cases[i].offset),
			.length = cases[i].length,
			.mw_access_flags = cases[i].access,
		};
		assert_int_equal(bind_by(&scene, 1, &info), IBV_WC_MW_BIND_ERR);
		if (other)
			assert_int_equal(ibv_dereg_mr(other), 0);
		assert_int_equal(ibv_dealloc_pd(pd), 0);
		close_scene(&scene);
	}
}

/* A bound window of type 2 cannot be bound; nor one of another domain, or by a foreign key. */
static void test_windows_that_cannot_be_bound(void **unused)
{
	struct ibv_mw_bind_info info;
	struct scene scene;
	struct ibv_pd *pd;

	open_scene(&scene, IBV_MW_TYPE_2);
	bind_window(&scene, READ);
	info = info_of(&scene, READ);
	scene.rkey = ibv_inc_rkey(scene.rkey);
	assert_int_equal(bind_by(&scene, 1, &info), IBV_WC_MW_BIND_ERR);
	close_scene(&scene);
	open_scene(&scene, IBV_MW_TYPE_2);
	info = info_of(&scene, READ);
	scene.rkey ^= 1U << 8;
	assert_int_equal(bind_by(&scene, 1, &info), IBV_WC_MW_BIND_ERR);
	close_scene(&scene);
	open_scene(&scene, IBV_MW_TYPE_2);
	assert_int_equal(ibv_dealloc_mw(scene.mw), 0);
	pd = ibv_alloc_pd(scene.stage.context);
	assert_null(ibv_alloc_mw(pd, 3));
	assert_int_equal(errno, EINVAL);
	scene.mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	assert_int_equal(ibv_dealloc_pd(pd), EBUSY);
	info = info_of(&scene, READ);
	scene.rkey = ibv_inc_rkey(scene.mw->rkey);
	assert_int_equal(bind_by(&scene, 1, &info), IBV_WC_MW_BIND_ERR);
	assert_int_equal(ibv_dealloc_mw(scene.mw), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
	assert_int_equal(ibv_dereg_mr(scene.mr), 0);
	stage_close(&scene.stage);
}

/* Unreliable connections can bind and invalidate, but a SEND invalidates only on RC. */
static void test_transports(void **unused)
{
	static const struct {
		enum ibv_qp_type type;
		enum ibv_wr_opcode opcode;
		int result;
	} cases[] = {
		{IBV_QPT_UC, IBV_WR_BIND_MW,       0     },
		{IBV_QPT_UC, IBV_WR_SEND_WITH_INV, EINVAL},
		{IBV_QPT_UD, IBV_WR_BIND_MW,       EINVAL},
		{IBV_QPT_UD, IBV_WR_LOCAL_INV,     EINVAL},
		{IBV_QPT_UD, IBV_WR_SEND_WITH_INV, EINVAL},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct stage stage;
		struct ibv_mw *mw;
		struct ibv_send_wr *bad;
		struct ibv_send_wr wr = {.opcode = cases[i].opcode};

		stage_open(&stage, &(struct stage_ways){.type = cases[i].type});
		mw = ibv_alloc_mw(stage.pd, IBV_MW_TYPE_1);
		wr.bind_mw.mw = mw;
		wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
		assert_int_equal(ibv_post_send(stage.end[1].qp, &wr, &bad), cases[i].result);
		assert_int_equal(ibv_dealloc_mw(mw), 0);
		stage_close(&stage);
	}
}

/* The same requests through the extended interface, and completions through that of CQs. */
static void test_extended_requests(void **unused)
{
	struct scene scene;
	struct ibv_mw_bind_info info;
	struct ibv_qp_ex *own, *peer;
	struct ibv_wc wc;

	open_scene(&scene, IBV_MW_TYPE_2);
	info = info_of(&scene, WRITE);
	own = ibv_qp_to_qp_ex(scene.stage.end[1].qp);
	peer = ibv_qp_to_qp_ex(scene.stage.end[0].qp);
	for (int i = 0; i < 2; i++) {
		ibv_wr_start(own);
		own->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_bind_mw(own, scene.mw, scene.rkey, &info);
		assert_int_equal(ibv_wr_complete(own), 0);
		assert_int_equal(stage_await(scene.stage.end[1].cq).opcode, IBV_WC_BIND_MW);
		assert_int_equal(write_to(&scene, scene.rkey), IBV_WC_SUCCESS);
		if (!i) {
			ibv_wr_start(own);
			ibv_wr_local_inv(own, scene.rkey);
			assert_int_equal(ibv_wr_complete(own), 0);
			assert_int_equal(stage_await(scene.stage.end[1].cq).opcode,
					 IBV_WC_LOCAL_INV);
			scene.rkey = ibv_inc_rkey(scene.rkey);
		}
	}
	stage_receive(&scene.stage, REGION, 9);
	ibv_wr_start(peer);
	peer->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send_inv(peer, scene.rkey);
	ibv_wr_set_sge(peer, scene.stage.mr->lkey, (uintptr_t)scene.stage.end[0].buffer, 8);
	assert_int_equal(ibv_wr_complete(peer), 0);
	assert_int_equal(stage_await(scene.stage.end[0].cq).status, IBV_WC_SUCCESS);
	wc = stage_await(scene.stage.end[1].cq);
	check_invalidated(&scene, &wc);
	assert_int_equal(write_to(&scene, scene.rkey), IBV_WC_REM_ACCESS_ERR);
	close_scene(&scene);
}

/* Binds a window, tells the peer its key, and keeps it until the peer is done. */
static void lend_window(struct pair *pair)
{
	struct stage *stage = &pair->stage;
	struct ibv_mr *mr = ibv_reg_mr(stage->pd, stage->end[0].buffer, LARGE,
				       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	struct ibv_mw *mw = ibv_alloc_mw(stage->pd, IBV_MW_TYPE_2);
	struct ibv_recv_wr receive = {.wr_id = 9};
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {mw,
			    ibv_inc_rkey(mw->rkey),
			    {mr, (uintptr_t)stage->end[0].buffer, LARGE, READ | WRITE | ZERO}},
	};
	struct ibv_recv_wr *bad_receive;
	struct ibv_send_wr *bad;

	assert_int_equal(ibv_post_recv(stage->end[0].qp, &receive, &bad_receive), 0);
	assert_int_equal(ibv_post_send(stage->end[0].qp, &wr, &bad), 0);
	assert_int_equal(stage_await(stage->end[0].cq).status, IBV_WC_SUCCESS);
	pair_send(pair->socket, &wr.bind_mw.rkey, sizeof(wr.bind_mw.rkey));
	pair_wait(pair);
	assert_int_equal(stage_await(stage->end[0].cq).invalidated_rkey, wr.bind_mw.rkey);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
}

/* The kernel or a copy server copies to and from a window of another process. */
static void test_window_of_another_process(void **unused)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND_WITH_INV, .send_flags = IBV_SEND_SIGNALED};
	struct pair pair;
	unsigned char *buffer;

	pair_set_up(&pair, lend_window, &(struct stage_ways){0});
	pair_receive(pair.socket, &pair.peer.rkey, sizeof(pair.peer.rkey));
	pair.peer.address = 0;
	buffer = pair.stage.end[0].buffer;
	memset(buffer, 7, LARGE);
	pair_post(&pair, IBV_WR_RDMA_WRITE, LARGE);
	assert_int_equal(pair_status(&pair), IBV_WC_SUCCESS);
	memset(buffer, 0, LARGE);
	pair_post(&pair, IBV_WR_RDMA_READ, LARGE);
	assert_int_equal(pair_status(&pair), IBV_WC_SUCCESS);
	for (int i = 0; i < LARGE; i++)
		assert_int_equal(buffer[i], 7);
	wr.invalidate_rkey = pair.peer.rkey;
	assert_int_equal(stage_post(&pair.stage, &wr, 0), 0);
	assert_int_equal(pair_status(&pair), IBV_WC_SUCCESS);
	pair_post(&pair, IBV_WR_RDMA_READ, LARGE);
	assert_int_equal(pair_status(&pair), IBV_WC_REM_ACCESS_ERR);
	pair_send(pair.socket, "e", 1);
	pair_tear_down(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounds_and_rights),
		cmocka_unit_test(test_zero_based_place),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_queue_pairs),
		cmocka_unit_test(test_type_1_is_bound_again),
		cmocka_unit_test(test_local_invalidation),
		cmocka_unit_test(test_invalid_invalidations),
		cmocka_unit_test(test_send_with_invalidate),
		cmocka_unit_test(test_send_with_wrong_key),
		cmocka_unit_test(test_invalid_bindings),
		cmocka_unit_test(test_windows_that_cannot_be_bound),
		cmocka_unit_test(test_transports),
		cmocka_unit_test(test_extended_requests),
		cmocka_unit_test_teardown(test_window_of_another_process, pair_end_child),
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
