/* SPDX-License-Identifier: MIT */
#include <net/if.h>

#include "core/base/address.h"
#include "core/rdma/manual_qp.h"
#include "core/test/lib/check.h"

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
		assert_true(manual_qp_rank_gid(&gids[i], NULL) >
			    manual_qp_rank_gid(&gids[i + 1], NULL));
	assert_int_equal(manual_qp_rank_gid(&gids[ARRAY_LENGTH(gids) - 1], NULL), 0);
}

static unsigned int rank(union ibv_gid gid, uint32_t type, const char *address)
{
	const struct ibv_gid_entry entry = {
		.gid = gid, .gid_type = type, .ndev_ifindex = if_nametoindex("lo")};
	struct sockaddr_storage parsed;

	assert_true(address_parse(&parsed, address));
	return manual_qp_rank_gid(&entry, &parsed);
}

/* That of the address before all others of its type, and of none before one of a better type. */
static void test_ranks_of_an_address(void **unused)
{
	static const struct {
		union ibv_gid gid;
		const char *address;
		const char *other;
	} rows[] = {
		{V4,     "10.88.0.1",  "10.88.0.2"},
		{GLOBAL, "fd88::1",    "fd88::2"  },
		{LINK,   "fe80::1%lo", "fe80::2"  },
		{V4,     "10.88.0.1",  "fd88::1"  },
	};
	static const union ibv_gid best = V4;

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		unsigned int own = rank(rows[i].gid, IBV_GID_TYPE_ROCE_V2, rows[i].address);
		unsigned int old = rank(rows[i].gid, IBV_GID_TYPE_ROCE_V1, rows[i].address);
		unsigned int another = rank(best, IBV_GID_TYPE_ROCE_V2, rows[i].other);

		assert_true(own > another);
		assert_true(another > old);
		assert_true(old > rank(best, IBV_GID_TYPE_ROCE_V1, rows[i].other));
		assert_int_equal(manual_qp_rank_gid(&(struct ibv_gid_entry){0},
						    &(struct sockaddr_storage){0}),
				 0);
	}
}

/* The same one of another interface, as a card's VLANs have it, is another. */
static void test_rank_in_a_zone(void **unused)
{
	static const union ibv_gid gid = LINK;
	struct ibv_gid_entry entry = {.gid = gid, .gid_type = IBV_GID_TYPE_ROCE_V2};
	struct sockaddr_storage address;
	unsigned int own;

	assert_true(address_parse(&address, "fe80::1%lo"));
	entry.ndev_ifindex = if_nametoindex("lo");
	own = manual_qp_rank_gid(&entry, &address);
	entry.ndev_ifindex++;
	assert_true(own > manual_qp_rank_gid(&entry, &address));
}

/* What link layers there are: ibv_query_port(3). EFA's and usNIC's is unspecified. */
static void test_links_that_have_lids(void **unused)
{
	static const struct {
		uint8_t link_layer;
		bool has_lids;
	} rows[] = {
		{IBV_LINK_LAYER_INFINIBAND,  true },
		{IBV_LINK_LAYER_ETHERNET,    false},
		{IBV_LINK_LAYER_UNSPECIFIED, false},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		const struct ibv_port_attr port = {.link_layer = rows[i].link_layer};

		assert_int_equal(manual_qp_has_lids(&port), rows[i].has_lids);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_ranks_of_an_address),
		cmocka_unit_test(test_rank_in_a_zone),
		cmocka_unit_test(test_links_that_have_lids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
