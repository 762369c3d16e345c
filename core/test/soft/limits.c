/* SPDX-License-Identifier: MIT */
/*
 * Many objects of each kind in one process, destroyed in random order: objects in use cannot be
 * destroyed, and in the end nothing is left.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/base/compiler.h"
#include "core/soft/peer/process.h"
#include "core/test/soft/stage.h"

#define GIBIBYTE (UINT64_C(1) << 30)

enum {
	PAIRS = 4096,
	PIECES = 64,
	QUEUES = 32,
	THINGS = PAIRS + QUEUES + PIECES + 2,
};

enum device_kind {
	KIND_PD,
	KIND_SRQ,
	KIND_CQ,
	KIND_QP,
	KIND_MR,
};

struct thing {
	enum device_kind kind;
	void *object; /* NULL: destroyed */
};

static struct thing things[THINGS];
static size_t count;

static void keep(enum device_kind kind, void *object)
{
	assert_non_null(object);
	things[count++] = (struct thing){kind, object};
}

static int destroy(const struct thing *thing)
{
	switch (thing->kind) {
	case KIND_PD:
		return ibv_dealloc_pd(thing->object);
	case KIND_SRQ:
		return ibv_destroy_srq(thing->object);
	case KIND_CQ:
		return ibv_destroy_cq(thing->object);
	case KIND_QP:
		return ibv_destroy_qp(thing->object);
	case KIND_MR:
		return ibv_dereg_mr(thing->object);
	}
	return EINVAL;
}

static void make_queue_pairs(struct ibv_pd *pd, struct ibv_srq *srq)
{
	struct ibv_cq *cqs[QUEUES];

	for (size_t i = 0; i < QUEUES; i++) {
		cqs[i] = ibv_create_cq(pd->context, 64, NULL, NULL, 0);
		keep(KIND_CQ, cqs[i]);
	}
	for (size_t i = 0; i < PAIRS; i++) {
		struct ibv_qp_init_attr init = {
			.send_cq = cqs[i % QUEUES],
			.recv_cq = cqs[i / 2 % QUEUES],
			.srq = i % 16 ? NULL : srq,
			.cap = {4, 4, 1, 1, 0},
			.qp_type = IBV_QPT_RC,
		};

		keep(KIND_QP, ibv_create_qp(pd, &init));
	}
}

static void make_all(struct ibv_context *context, unsigned char *memory)
{
	struct ibv_srq_init_attr init = {
		.attr = {.max_wr = 16, .max_sge = 1}
        };
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_srq *srq;

	keep(KIND_PD, pd);
	srq = ibv_create_srq(pd, &init);
	keep(KIND_SRQ, srq);
	for (size_t i = 0; i < PIECES; i++)
		keep(KIND_MR, ibv_reg_mr(pd, memory + i * (GIBIBYTE / PIECES), GIBIBYTE / PIECES,
					 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
	make_queue_pairs(pd, srq);
}

/* Shuffles the objects into a fixed pseudo-random order. */
static void shuffle(void)
{
	uint64_t random = 88172645463325252;

	for (size_t i = count - 1; i; i--) {
		struct thing one = things[i];
		size_t other;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		other = random % (i + 1);
		things[i] = things[other];
		things[other] = one;
	}
}

/* Destroys all objects that are not in use. Returns their number. */
static size_t destroy_all(void)
{
	size_t destroyed = 0;

	for (size_t i = 0; i < count; i++) {
		int result = things[i].object ? destroy(&things[i]) : 0;

		if (result) {
			assert_int_equal(result, EBUSY);
			assert_true(things[i].kind <= KIND_CQ);
			continue;
		}
		destroyed += things[i].object != NULL;
		things[i].object = NULL;
	}
	return destroyed;
}

static void assert_counts(const uint32_t wanted[SOFT_KINDS])
{
	uint32_t sum[SOFT_KINDS];

	soft_registry_sum(&soft_process.registry, sum);
	assert_memory_equal(sum, wanted, sizeof(sum));
}

/* Sends a message between two queue pairs. */
static void talk(struct ibv_qp *from, struct ibv_qp *to)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED};
	const struct stage_ways ways = {0};
	struct ibv_send_wr *bad;
	union ibv_gid gid;

	assert_int_equal(ibv_query_gid(from->context, 1, 0, &gid), 0);
	stage_connect(from, &gid, to->qp_num, &ways);
	stage_connect(to, &gid, from->qp_num, &ways);
	assert_int_equal(ibv_post_send(from, &wr, &bad), 0);
	assert_int_equal(stage_await(from->send_cq).status, IBV_WC_SUCCESS);
}

static void test_many_objects(void **unused)
{
	static const uint32_t all[SOFT_KINDS] = {
		[SOFT_KIND_PD] = 1,     [SOFT_KIND_SRQ] = 1,     [SOFT_KIND_CQ] = QUEUES,
		[SOFT_KIND_QP] = PAIRS, [SOFT_KIND_MR] = PIECES,
	};
	static const uint32_t none[SOFT_KINDS];
	struct ibv_context *context = stage_open_device();
	unsigned char *memory = calloc(1, GIBIBYTE);

	assert_non_null(memory);
	make_all(context, memory);
	assert_int_equal(count, THINGS);
	assert_counts(all);
	talk(things[count - 1].object, things[count - 2].object);
	shuffle();
	assert_true(destroy_all() >= PAIRS + PIECES);
	/* Completion queues and the SRQ are free now; the domain is after the SRQ is destroyed. */
	destroy_all();
	destroy_all();
	assert_counts(none);
	assert_int_equal(ibv_close_device(context), 0);
	free(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_objects),
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
