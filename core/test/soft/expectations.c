/* SPDX-License-Identifier: MIT */
/*
 * What programs of others expect of a device and of librdmacm, and find on soft0.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <sched.h>

#include "core/base/compiler.h"
#include "core/test/soft/stage.h"

/* The peer, which runs while a poll yields: posts a message to end[1]. */
static struct stage *yielding;

int sched_yield(void)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
	struct stage *stage = yielding;

	yielding = NULL;
	if (stage)
		assert_int_equal(stage_post(stage, &wr, 4), 0);
	return 0;
}

/*
 * A poll that yielded while the peer sent and disconnected must not miss the message: libfabric
 * would see the disconnect first, and close the connection without it.
 */
static void test_poll_looks_again_after_yielding(void **unused)
{
	struct stage stage;
	struct ibv_wc wc;
	int count = 0;

	stage_open(&stage, &(struct stage_ways){0});
	stage_receive(&stage, 4, 11);
	yielding = &stage;
	while (yielding)
		count = ibv_poll_cq(stage.end[1].cq, 1, &wc);
	assert_int_equal(count, 1);
	assert_int_equal(wc.wr_id, 11);
	stage_close(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_poll_looks_again_after_yielding),
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
