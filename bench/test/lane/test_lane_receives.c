/* SPDX-License-Identifier: MIT */
/* Tests which receives lanes return to soft0, and when. */
#include "bench/test/unit.d/soft_lanes.h"

static struct {
	size_t calls;
	size_t n;
	uint64_t ids[1024];
	uint64_t places[1024];
} seen;

static struct ibv_context_ops unseen;

static int see_receives(const struct ibv_recv_wr *wr)
{
	seen.calls++;
	for (; wr; wr = wr->next) {
		seen.ids[seen.n] = wr->wr_id;
		seen.places[seen.n++] = wr->sg_list[0].addr;
	}
	return 0;
}

static int see_own(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)qp;
	(void)bad;
	return see_receives(wr);
}

static int see_shared(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)srq;
	(void)bad;
	return see_receives(wr);
}

static int return_receive(struct lane *lane, uint64_t slot, uint64_t *id)
{
	/* A shared receive queue belongs to the first flow. */
	uint64_t flow = parameters.use_srq ? 0 : 1;

	*id = LANE_RECEIVE | slot << LANE_FLOW_BITS | flow;
	return lane_return_receive(lane, &lane->flows[flow], *id, true);
}

static void set_up_to_see(const char *asked_for)
{
	struct ibv_context *context;

	set_up(asked_for);
	context = posts[0].flows[1].context.qp->context;
	unseen = context->ops;
	context->ops.post_recv = see_own;
	context->ops.post_srq_recv = see_shared;
	memset(&seen, 0, sizeof(seen));
}

static void tear_down_unseen(void)
{
	posts[0].flows[1].context.qp->context->ops = unseen;
	tear_down();
}

/* New queue pairs get all of their receives, and none that was held back for the previous ones. */
static void check_begun_anew(struct lane *lane, size_t each)
{
	uint64_t before = parameters.rx_depth;
	uint64_t id;

	for (uint64_t i = 0; i < 5; i++)
		assert_int_equal(return_receive(lane, i, &id), 0);
	memset(&seen, 0, sizeof(seen));
	assert_int_equal(lane_receive(lane, &lane->flows[id & 1], &(struct error){0}), 0);
	assert_int_equal(seen.n, before);
	for (uint64_t i = 0; i < each; i++)
		assert_int_equal(return_receive(lane, 32 + i, &id), 0);
	assert_int_equal(seen.n, before + each);
	for (uint64_t i = 0; i < each; i++)
		assert_int_equal(lane_receive_slot(seen.ids[before + i]), 32 + i);
}

/* Reposted in lists of 16 if at least 128 are posted, otherwise one at a time. None may be lost. */
static void test_receives_are_reposted_in_lists(void **unused)
{
	static const struct {
		const char *asked_for;
		size_t each;
	} rows[] = {
		{"op=send metric=bw rx-depth=128 verify=1",                   16},
		{"op=send metric=bw rx-depth=128 verify=1 recv-post-list=1",  1 },
		{"op=send metric=bw rx-depth=64 verify=1 recv-post-list=8",   8 },
		{"op=send metric=bw rx-depth=128 verify=1 recv-post-list=32", 32},
		{"op=send metric=bw rx-depth=128 verify=1 use-srq=1",         16},
		{"op=send metric=bw rx-depth=127 verify=1",                   1 },
		{"op=send metric=bw rx-depth=128 sge=2 size=64 verify=1",     1 },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		set_up_to_see(rows[i].asked_for);
		for (uint64_t j = 0; j < 32; j++) {
			uint64_t id;

			assert_int_equal(return_receive(posts, j, &id), 0);
			assert_int_equal(seen.n, (j + 1) / rows[i].each * rows[i].each);
			assert_int_equal(seen.calls, (j + 1) / rows[i].each);
		}
		for (uint64_t j = 0; j < 32; j++) {
			assert_int_equal(lane_receive_slot(seen.ids[j]), j);
			assert_int_equal(seen.places[j] - seen.places[0],
					 j * posts->settings.stride);
		}
		check_begun_anew(posts, rows[i].each);
		tear_down_unseen();
	}
}

/* Three queue pairs. Receives beyond the usual 512 are spare. */
static void test_spare_receives_are_not_reposted(void **unused)
{
	static const struct {
		const char *asked_for;
		size_t spare;
		size_t each;
	} rows[] = {
		{"op=send metric=bw rx-depth=800 iterations=2402",            288, 16},
		{"op=send metric=bw rx-depth=800 tx-depth=600 iterations=2",  200, 16},
		{"op=send metric=bw rx-depth=513 iterations=2",               1,   16},
		{"op=send metric=bw rx-depth=512 iterations=2",               0,   16},
		{"op=send metric=bw rx-depth=800 iterations=2403",            0,   16},
		{"op=send metric=bw rx-depth=800",                            0,   16},
		{"op=send metric=bw rx-depth=800 iterations=2 sge=2 size=64", 0,   1 },
		{"op=send metric=bw rx-depth=800 iterations=2 verify=1",      0,   16},
		{"op=send metric=bw rx-depth=800 iterations=2 use-srq=1",     0,   16},
		{"op=send metric=bw rx-depth=800 iterations=2 transport=UC",  0,   16},
		{"op=send metric=load rx-depth=800 iterations=2 rate=1000",   0,   16},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		uint64_t id;

		set_up_to_see(rows[i].asked_for);
		/* The second time with new queue pairs. */
		for (int time = 0; time < 2; time++) {
			for (size_t j = 0; j < rows[i].spare + rows[i].each; j++) {
				assert_int_equal(seen.n, 0);
				assert_int_equal(return_receive(posts, 0, &id), 0);
			}
			assert_int_equal(seen.n, rows[i].each);
			assert_int_equal(seen.calls, 1);
			assert_int_equal(lane_receive(posts, &posts->flows[1], &(struct error){0}),
					 0);
			memset(&seen, 0, sizeof(seen));
		}
		tear_down_unseen();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_receives_are_reposted_in_lists),
		cmocka_unit_test(test_spare_receives_are_not_reposted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
