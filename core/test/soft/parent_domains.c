/* SPDX-License-Identifier: MIT */
/* Thread domains and parent domains. */
#include <errno.h>

#include "core/test/soft/stage.h"

static struct ibv_pd *create_parent(struct ibv_context *context, struct ibv_pd *pd,
				    struct ibv_td *td)
{
	struct ibv_parent_domain_init_attr attr = {.pd = pd, .td = td};

	return ibv_alloc_parent_domain(context, &attr);
}

static void check_refused(struct ibv_context *context, struct ibv_pd *pd, uint32_t mask, int error)
{
	struct ibv_parent_domain_init_attr attr = {.pd = pd, .comp_mask = mask};

	assert_null(ibv_alloc_parent_domain(context, &attr));
	assert_int_equal(errno, error);
}

/* A queue pair in a parent domain uses the regions of its protection domain. */
static void test_messages(void **unused)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_td_init_attr none = {0};
	struct ibv_cq_init_attr_ex cq_attr = {.cqe = 16, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD};
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
	};
	struct ibv_qp *own;
	struct ibv_td *td;
	struct stage stage;
	union ibv_gid gid;

	stage_open(&stage, &(struct stage_ways){.is_apart = true});
	td = ibv_alloc_td(stage.context, &none);
	assert_non_null(td);
	cq_attr.parent_domain = create_parent(stage.context, stage.pd, td);
	assert_non_null(cq_attr.parent_domain);
	attr.send_cq = attr.recv_cq = ibv_cq_ex_to_cq(ibv_create_cq_ex(stage.context, &cq_attr));
	assert_non_null(attr.send_cq);
	own = ibv_create_qp(cq_attr.parent_domain, &attr);
	assert_non_null(own);
	assert_int_equal(ibv_query_gid(stage.context, 1, 0, &gid), 0);
	stage_connect(own, &gid, stage.end[1].qp->qp_num, &(struct stage_ways){0});
	stage_connect(stage.end[1].qp, &gid, own->qp_num, &(struct stage_ways){0});
	stage_receive(&stage, 8, 1);
	{
		struct ibv_qp *before = stage.end[0].qp;

		stage.end[0].qp = own;
		assert_int_equal(stage_post(&stage, &wr, 8), 0);
		stage.end[0].qp = before;
	}
	assert_int_equal(stage_await(attr.send_cq).status, IBV_WC_SUCCESS);
	assert_int_equal(stage_await(stage.end[1].cq).status, IBV_WC_SUCCESS);
	/* Domains in use are kept. */
	assert_int_equal(ibv_dealloc_td(td), EBUSY);
	assert_int_equal(ibv_dealloc_pd(cq_attr.parent_domain), EBUSY);
	assert_int_equal(ibv_destroy_qp(own), 0);
	assert_int_equal(ibv_dealloc_pd(cq_attr.parent_domain), EBUSY);
	assert_int_equal(ibv_destroy_cq(attr.send_cq), 0);
	assert_int_equal(ibv_dealloc_pd(stage.pd), EBUSY);
	assert_int_equal(ibv_dealloc_pd(cq_attr.parent_domain), 0);
	assert_int_equal(ibv_dealloc_td(td), 0);
	stage_close(&stage);
}

static void test_refusals(void **unused)
{
	struct ibv_td_init_attr unknown = {.comp_mask = 1};
	struct ibv_cq_init_attr_ex cq_attr = {.cqe = 16, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD};
	struct stage stage;

	stage_open(&stage, &(struct stage_ways){0});
	assert_null(ibv_alloc_td(stage.context, &unknown));
	assert_int_equal(errno, EINVAL);
	check_refused(stage.context, NULL, 0, EINVAL);
	check_refused(stage.context, stage.pd, IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS, EOPNOTSUPP);
	cq_attr.parent_domain = stage.pd;
	assert_null(ibv_create_cq_ex(stage.context, &cq_attr));
	assert_int_equal(errno, EINVAL);
	stage_close(&stage);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_refusals),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
