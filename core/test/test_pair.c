/* SPDX-License-Identifier: MIT */
#include "core/pair.h"
#include "core/test/check.h"

#define V4                                                 \
	{                                                  \
		.raw = { [10] = 0xff, 0xff, 10, 88, 0, 1 } \
	}
#define GLOBAL                                  \
	{                                       \
		.raw = { 0xfd, 0x88, [15] = 1 } \
	}
#define LINK                                    \
	{                                       \
		.raw = { 0xfe, 0x80, [15] = 1 } \
	}

/* From the best to the worst: the same order as UCX's and perftest's. */
static void test_ranks(void **unused)
{
	static const struct ibv_gid_entry gids[] = {
		{.gid = V4,                         .gid_type = IBV_GID_TYPE_ROCE_V2},
		{.gid = GLOBAL,				 .gid_type = IBV_GID_TYPE_ROCE_V2},
		{.gid = LINK,.gid_type = IBV_GID_TYPE_ROCE_V2},
		{.gid = V4,                       .gid_type = IBV_GID_TYPE_ROCE_V1},
		{.gid = GLOBAL,				 .gid_type = IBV_GID_TYPE_ROCE_V1},
		{.gid = LINK,.gid_type = IBV_GID_TYPE_ROCE_V1},
		{.gid_type = IBV_GID_TYPE_ROCE_V2                    },
	};

	for (size_t i = 0; i + 1 < ARRAY_LENGTH(gids); i++)
		assert_true(pair_rank_gid(&gids[i]) > pair_rank_gid(&gids[i + 1]));
	assert_int_equal(pair_rank_gid(&gids[ARRAY_LENGTH(gids) - 1]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
