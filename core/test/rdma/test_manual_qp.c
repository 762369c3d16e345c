/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <net/if.h>
#include <string.h>

#include "core/base/address.h"
#include "core/rdma/context.h"
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

/* Best to worst, in the same order as UCX and perftest. */
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

/* The address's own GID precedes others of its type, but not those of a better type. */
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

/* The same link-local GID on another interface, such as a NIC's VLAN, does not match. */
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

/* Link layers of ibv_query_port(3). EFA and usNIC are unspecified. */
static void test_link_layers_with_lids(void **unused)
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

/* Arguments passed to verbs: the queue pair's transitions and its address handle. */
static struct {
	struct ibv_qp_attr attr[4];
	int mask[4];
	const struct ibv_qp *qp[4];
	unsigned int n_modified;
	struct ibv_ah_attr ah;
	unsigned int n_handles;
} passed;

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	if (passed.n_modified == ARRAY_LENGTH(passed.attr))
		return EINVAL;
	passed.attr[passed.n_modified] = *attr;
	passed.qp[passed.n_modified] = qp;
	qp->state = attr->qp_state;
	passed.mask[passed.n_modified++] = mask;
	return 0;
}

static struct ibv_ah handle;

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	passed.ah = *attr;
	passed.n_handles++;
	return &handle;
}

/* All values differ, to detect mix-ups. */
static const struct manual_qp_address remote = {
	.lid = 0x21,
	.gid = {0xfd, 0x88, [15] = 2},
	.qpn = 0x22,
	.psn = 0x23,
	.mtu = IBV_MTU_1024,
	.reads = 7,
	.qkey = 0x24,
	.address = 0x25000,
	.size = 0x26000,
	.rkey = 0x27,
	.target = 0x28,
	.srqn = 0x29,
};

static struct ibv_qp initiator;
static struct ibv_qp target;

static void connect_pair(struct rdma_context *ctx, struct rdma_state *state,
			 enum transport transport, uint8_t link_layer)
{
	struct error error = {0};

	memset(&passed, 0, sizeof(passed));
	*state = (struct rdma_state){
		.port = {.link_layer = link_layer  },
		.port_num = 2,
		.transport = transport,
		.device = { .max_qp_rd_atom = 16, .max_qp_init_rd_atom = 16},
		.path =
			{
                         .is_open = true,
                         .settings =
					{
						.gid_index = 3,
						.sl = 4,
						.path_bits = 3,
						.traffic_class = 0x6a,
						.hop_limit = 33,
						.flow_label = 0xfedcb,
					}, .own =
					{
						.gid = {0xfd, 0x88, [15] = 1},
						.qpn = 0x12,
						.psn = 0x13,
						.mtu = IBV_MTU_2048,
						.reads = 5,
					}, },
	};
	if (!transport_has(transport, TRANSPORT_TWO_WAY))
		state->target = &target;
	if (link_layer == IBV_LINK_LAYER_INFINIBAND)
		state->path.settings.gid_index = MANUAL_QP_GID_BEST;
	*ctx = (struct rdma_context){
		.settings =
			{
				   .ack_timeout = 11,
				   .retry_count = 2,
				   .rnr_retry = 1,
				   .min_rnr_timer = 9,
				   },
		.qp = &initiator,
		.state = state,
	};
	initiator = (struct ibv_qp){.state = IBV_QPS_INIT};
	assert_int_equal(manual_qp_connect(ctx, &remote, &error), 0);
	assert_int_equal(passed.n_modified, transport == TRANSPORT_XRC ? 4 : 2);
}

static void check_address(const struct ibv_ah_attr *attr, bool has_gid)
{
	assert_int_equal(attr->sl, 4);
	assert_int_equal(attr->port_num, 2);
	assert_int_equal(attr->dlid, remote.lid + 3);
	assert_int_equal(attr->src_path_bits, 3);
	assert_int_equal(attr->is_global, has_gid);
	assert_int_equal(attr->static_rate, 0);
	if (!has_gid)
		return;
	assert_int_equal(attr->grh.sgid_index, 3);
	assert_int_equal(attr->grh.traffic_class, 0x6a);
	assert_int_equal(attr->grh.hop_limit, 33);
	assert_int_equal(attr->grh.flow_label, 0xfedcb);
	assert_memory_equal(attr->grh.dgid.raw, remote.gid, sizeof(remote.gid));
}

static void test_connecting_rc(void **unused)
{
	static const uint8_t link_layers[] = {IBV_LINK_LAYER_ETHERNET, IBV_LINK_LAYER_INFINIBAND};

	for (size_t i = 0; i < ARRAY_LENGTH(link_layers); i++) {
		struct rdma_context ctx;
		struct rdma_state state;
		const struct ibv_qp_attr *receive = &passed.attr[0];
		const struct ibv_qp_attr *send = &passed.attr[1];

		connect_pair(&ctx, &state, TRANSPORT_RC, link_layers[i]);
		assert_int_equal(passed.mask[0], IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
							 IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
							 IBV_QP_MAX_DEST_RD_ATOMIC |
							 IBV_QP_MIN_RNR_TIMER);
		assert_int_equal(receive->qp_state, IBV_QPS_RTR);
		check_address(&receive->ah_attr, link_layers[i] == IBV_LINK_LAYER_ETHERNET);
		/* The smaller MTU of both sides. */
		assert_int_equal(receive->path_mtu, IBV_MTU_1024);
		assert_int_equal(receive->dest_qp_num, remote.qpn);
		assert_int_equal(receive->rq_psn, remote.psn);
		assert_int_equal(receive->max_dest_rd_atomic, 5);
		assert_int_equal(receive->min_rnr_timer, 9);
		assert_int_equal(passed.mask[1], IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
							 IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
							 IBV_QP_MAX_QP_RD_ATOMIC);
		assert_int_equal(send->qp_state, IBV_QPS_RTS);
		assert_int_equal(send->sq_psn, 0x13);
		assert_int_equal(send->timeout, 11);
		assert_int_equal(send->retry_cnt, 2);
		assert_int_equal(send->rnr_retry, 1);
		assert_int_equal(send->max_rd_atomic, 5);
		assert_int_equal(passed.n_handles, 0);
		assert_int_equal(ctx.remote.address, remote.address);
		assert_int_equal(ctx.remote.size, remote.size);
		assert_int_equal(ctx.remote.rkey, remote.rkey);
	}
}

/* The smaller MTU and number of reads are used, whichever side has it. */
static void test_connecting_to_a_more_capable_peer(void **unused)
{
	struct manual_qp_address stronger = remote;
	struct rdma_context ctx;
	struct rdma_state state;
	struct error error = {0};

	connect_pair(&ctx, &state, TRANSPORT_RC, IBV_LINK_LAYER_ETHERNET);
	memset(&passed, 0, sizeof(passed));
	state.connected = false;
	stronger.mtu = IBV_MTU_4096;
	stronger.reads = 3;
	assert_int_equal(manual_qp_connect(&ctx, &stronger, &error), 0);
	assert_int_equal(passed.attr[0].path_mtu, IBV_MTU_2048);
	assert_int_equal(passed.attr[1].max_rd_atomic, 3);
}

static void test_connecting_uc(void **unused)
{
	struct post_work work = {.route = {.kind = ROUTE_ADDRESS}};
	struct rdma_context ctx;
	struct rdma_state state;

	connect_pair(&ctx, &state, TRANSPORT_UC, IBV_LINK_LAYER_ETHERNET);
	assert_int_equal(passed.mask[0], IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
						 IBV_QP_DEST_QPN | IBV_QP_RQ_PSN);
	check_address(&passed.attr[0].ah_attr, true);
	assert_int_equal(passed.attr[0].path_mtu, IBV_MTU_1024);
	assert_int_equal(passed.attr[0].dest_qp_num, remote.qpn);
	assert_int_equal(passed.attr[0].rq_psn, remote.psn);
	assert_int_equal(passed.mask[1], IBV_QP_STATE | IBV_QP_SQ_PSN);
	assert_int_equal(passed.attr[1].sq_psn, 0x13);
	assert_int_equal(passed.n_handles, 0);
	manual_qp_aim(&ctx, &work);
	assert_int_equal(work.route.kind, ROUTE_CONNECTED);
}

/* The address handle has the path, and requests have the rest. */
static void test_connecting_ud(void **unused)
{
	struct post_work work = {0};
	struct rdma_context ctx;
	struct rdma_state state;

	connect_pair(&ctx, &state, TRANSPORT_UD, IBV_LINK_LAYER_ETHERNET);
	assert_int_equal(passed.mask[0], IBV_QP_STATE);
	assert_int_equal(passed.mask[1], IBV_QP_STATE | IBV_QP_SQ_PSN);
	assert_int_equal(passed.n_handles, 1);
	check_address(&passed.ah, true);
	manual_qp_aim(&ctx, &work);
	assert_int_equal(work.route.kind, ROUTE_ADDRESS);
	assert_ptr_equal(work.route.ah, &handle);
	assert_int_equal(work.route.qpn, remote.qpn);
	assert_int_equal(work.route.qkey, remote.qkey);
	connect_pair(&ctx, &state, TRANSPORT_UD, IBV_LINK_LAYER_INFINIBAND);
	check_address(&passed.ah, false);
}

/* Each queue pair is connected to the peer's other one, and requests name the peer's SRQ. */
static void test_connecting_xrc(void **unused)
{
	struct post_work work = {0};
	struct rdma_context ctx;
	struct rdma_state state;

	connect_pair(&ctx, &state, TRANSPORT_XRC, IBV_LINK_LAYER_ETHERNET);
	for (size_t i = 0; i < 4; i++) {
		assert_ptr_equal(passed.qp[i], i % 2 ? &target : &initiator);
		assert_int_equal(passed.attr[i].qp_state, i < 2 ? IBV_QPS_RTR : IBV_QPS_RTS);
	}
	assert_int_equal(passed.attr[0].dest_qp_num, remote.target);
	assert_int_equal(passed.attr[1].dest_qp_num, remote.qpn);
	check_address(&passed.attr[1].ah_attr, true);
	assert_int_equal(passed.attr[1].rq_psn, remote.psn);
	assert_int_equal(passed.attr[1].max_dest_rd_atomic, 5);
	assert_int_equal(passed.attr[2].sq_psn, 0x13);
	assert_int_equal(passed.attr[2].max_rd_atomic, 5);
	assert_int_equal(passed.n_handles, 0);
	manual_qp_aim(&ctx, &work);
	assert_int_equal(work.route.kind, ROUTE_SRQ);
	assert_int_equal(work.route.srqn, remote.srqn);
}

/* The initiator is connected to no peer, and only once; each request names its target. */
static void test_connecting_dc(void **unused)
{
	struct post_work work = {0};
	struct rdma_context ctx;
	struct rdma_state state;
	struct error error = {0};

	connect_pair(&ctx, &state, TRANSPORT_DC, IBV_LINK_LAYER_ETHERNET);
	assert_ptr_equal(passed.qp[0], &initiator);
	assert_int_equal(passed.mask[0], IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU);
	assert_int_equal(passed.attr[0].path_mtu, IBV_MTU_1024);
	check_address(&passed.attr[0].ah_attr, true);
	assert_int_equal(passed.mask[1], IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
						 IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
						 IBV_QP_MAX_QP_RD_ATOMIC);
	manual_qp_aim(&ctx, &work);
	assert_int_equal(work.route.kind, ROUTE_TARGET);
	assert_ptr_equal(work.route.ah, &handle);
	assert_int_equal(work.route.qpn, remote.target);
	assert_int_equal(work.route.qkey, remote.qkey);
	/* Another context on the endpoint. */
	state.connected = false;
	assert_int_equal(manual_qp_connect(&ctx, &remote, &error), 0);
	assert_int_equal(passed.n_modified, 2);
	assert_int_equal(passed.n_handles, 2);
}

/* SRD has the attributes of UD, and a route for all requests. */
static void test_connecting_srd(void **unused)
{
	struct post_work work = {0};
	struct rdma_context ctx;
	struct rdma_state state;

	connect_pair(&ctx, &state, TRANSPORT_SRD, IBV_LINK_LAYER_ETHERNET);
	assert_int_equal(passed.mask[0], IBV_QP_STATE);
	assert_int_equal(passed.mask[1], IBV_QP_STATE | IBV_QP_SQ_PSN);
	manual_qp_aim(&ctx, &work);
	assert_int_equal(work.route.kind, ROUTE_SRD);
	assert_ptr_equal(work.route.ah, &handle);
	assert_int_equal(work.route.qpn, remote.qpn);
	assert_int_equal(work.route.qkey, remote.qkey);
}

/* EFA numbers its queue pairs from 0. */
static void test_numbers_of_srd(void **unused)
{
	struct manual_qp_address first = remote;
	struct rdma_context ctx;
	struct rdma_state state;
	struct error error = {0};

	connect_pair(&ctx, &state, TRANSPORT_SRD, IBV_LINK_LAYER_ETHERNET);
	state.connected = false;
	first.qpn = 0;
	assert_int_equal(manual_qp_connect(&ctx, &first, &error), 0);
	state.connected = false;
	first.qpn = 1 << 24;
	assert_int_equal(manual_qp_connect(&ctx, &first, &error), -EPROTO);
}

/* The peer's numbers are not trusted. */
static void test_invalid_numbers_of_xrc(void **unused)
{
	struct manual_qp_address wrong = remote;
	struct rdma_context ctx;
	struct rdma_state state;
	struct error error = {0};

	connect_pair(&ctx, &state, TRANSPORT_XRC, IBV_LINK_LAYER_ETHERNET);
	state.connected = false;
	wrong.target = 1;
	assert_int_equal(manual_qp_connect(&ctx, &wrong, &error), -EPROTO);
	assert_string_equal(error.text, "the peer sent an invalid target queue pair number: 0x1");
	wrong.target = remote.target;
	wrong.srqn = 1 << 24;
	error = (struct error){0};
	assert_int_equal(manual_qp_connect(&ctx, &wrong, &error), -EPROTO);
	assert_string_equal(error.text,
			    "the peer sent an invalid shared receive queue number: 0x1000000");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_ranks_of_an_address),
		cmocka_unit_test(test_rank_in_a_zone),
		cmocka_unit_test(test_link_layers_with_lids),
		cmocka_unit_test(test_connecting_rc),
		cmocka_unit_test(test_connecting_to_a_more_capable_peer),
		cmocka_unit_test(test_connecting_uc),
		cmocka_unit_test(test_connecting_ud),
		cmocka_unit_test(test_connecting_xrc),
		cmocka_unit_test(test_connecting_dc),
		cmocka_unit_test(test_connecting_srd),
		cmocka_unit_test(test_numbers_of_srd),
		cmocka_unit_test(test_invalid_numbers_of_xrc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
