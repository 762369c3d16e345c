/* SPDX-License-Identifier: MIT */
/* Manual queue pairs between two processes: all operations and errors. */
#include <unistd.h>

#include "core/test/lib/rows.h"
#include "core/test/lib/spare.h"
#include "core/test/lib/stand.h"
#include "core/verbs/device_kind.h"

#define IMM 0xfedc0042

/* How both sides connect, wait and post. */
struct variant {
	enum transport transport;
	enum rdma_wait_mode wait;
	bool classic;
};

static struct stand_agents join(const struct variant *variant, unsigned int n)
{
	struct stand_agents agents;

	stand_plan(variant->transport, variant->wait, n);
	board->plan.classic = variant->classic;
	agents = stand_endpoints();
	stand_join(agents, n);
	return agents;
}

/* Sizes around the inline limit, 256, and MTUs, which limit datagrams. */
static const size_t sizes[] = {0,    1,    7,    64,   255,  256,  257,
			       1000, 1024, 1025, 4095, 4096, 4097, 20000};

static void test_send(void **state)
{
	const struct variant *variant = *state;
	struct stand_agents agents = join(variant, 1);
	size_t mtu = limits_mtu_bytes(board->addresses[CLIENT][0].mtu);

	for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
		if (variant->transport == TRANSPORT_UD && sizes[i] > mtu)
			continue;
		stand_send(agents.client, agents.server, 0, sizes[i]);
		stand_send(agents.server, agents.client, 0, sizes[i]);
	}
	agent_must(agents.client, task_nothing());
	agent_must(agents.server, task_nothing());
	stand_stop(agents);
}

/* SEND and SEND_IMM, inline and not. */
static void test_sends_with_immediate_and_inline_data(void **state)
{
	const struct variant *variant = *state;
	struct stand_agents agents = join(variant, 1);
	size_t front = transport_head(variant->transport);
	struct outcome outcome;

	for (size_t i = 0; i < 4; i++) {
		agent_must(agents.client, task_fill(i, 0, STAND_BUFFER));
		agent_must(agents.server, task_fill(50, 0, STAND_BUFFER));
		board->order = (struct stand_order){.local = 2000, .length = front + 100};
		agent_must(agents.server, task_receives());
		board->order = (struct stand_order){
			.operation = i / 2 ? POST_SEND_IMM : POST_SEND,
			.local = 100,
			.length = 100,
			.imm = IMM,
			.is_inline = i % 2,
		};
		agent_must(agents.client, task_post());
		outcome = agent_must(agents.server, task_take());
		assert_int_equal(outcome.value, front + 100);
		assert_int_equal(outcome.received.offset, i / 2 ? IMM : 0);
		agent_must(agents.server, task_compare(i, 2000 + front, 100, 100));
		agent_must(agents.server, task_compare(50, 0, 2000, 0));
	}
	stand_stop(agents);
}

static void test_write(void **state)
{
	struct stand_agents agents = join(*state, 1);
	struct outcome outcome;

	for (size_t i = 0; i < 6; i++) {
		size_t length = i / 2 == 2 ? 30000 : 200;
		bool has_imm = i % 2;

		agent_must(agents.client, task_fill(i, 0, STAND_BUFFER));
		agent_must(agents.server, task_fill(50, 0, STAND_BUFFER));
		if (has_imm) {
			board->order = (struct stand_order){0};
			agent_must(agents.server, task_receives());
		}
		board->order = (struct stand_order){
			.operation = has_imm ? POST_WRITE_IMM : POST_WRITE,
			.local = 10,
			.remote = 3000,
			.length = length,
			.imm = IMM,
			.is_inline = i / 2 == 1,
		};
		agent_must(agents.client, task_post());
		if (has_imm) {
			outcome = agent_must(agents.server, task_take());
			assert_int_equal(outcome.value, length);
			assert_int_equal(outcome.received.offset, IMM);
		} else {
			agent_must(agents.server, task_nothing());
		}
		/* On UC, the local completion does not mean that the write has arrived. */
		usleep(20000);
		agent_must(agents.server, task_compare(i, 3000, length, 10));
		agent_must(agents.server, task_compare(50, 0, 3000, 0));
		agent_must(agents.server, task_compare(50, 3000 + length, 1000, 3000 + length));
	}
	stand_stop(agents);
}

static void test_read(void **state)
{
	struct stand_agents agents = join(*state, 1);

	agent_must(agents.client, task_fill(1, 0, STAND_BUFFER));
	agent_must(agents.server, task_fill(2, 0, STAND_BUFFER));
	board->order = (struct stand_order){
		.operation = POST_READ, .local = 100, .remote = 7000, .length = 30000};
	agent_must(agents.client, task_post());
	agent_must(agents.client, task_compare(2, 100, 30000, 7000));
	agent_must(agents.client, task_compare(1, 0, 100, 0));
	agent_must(agents.client, task_compare(1, 30100, 1000, 30100));
	stand_stop(agents);
}

/* Replaces the eight bytes at offset a by the number b. Returns the old number in value. */
static int run_exchange(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	uint64_t number = task->b;

	memcpy(value, ctx->buffer + task->a, sizeof(*value));
	memcpy(ctx->buffer + task->a, &number, sizeof(number));
	return 0;
}

static uint64_t exchange(struct agent *agent, size_t place, uint64_t number)
{
	return agent_must(agent, (struct task){.run = run_exchange, .a = place, .b = number}).value;
}

static void test_atomics(void **state)
{
	const uint64_t before = 0xfedcba9876543210;
	static const struct {
		struct stand_order order;
		uint64_t after;
	} rows[] = {
		{{.operation = POST_FETCH_ADD, .add = 0x1111111111111111},           0x0fedcba987654321},
		{{.operation = POST_FETCH_ADD, .add = UINT64_MAX},                   0xfedcba987654320f},
		{{.operation = POST_FETCH_ADD},                                      before            },
		{{.operation = POST_COMPARE_SWAP, .compare = before, .swap = 5},     5                 },
		{{.operation = POST_COMPARE_SWAP, .compare = before + 1, .swap = 5}, before            },
	};
	struct stand_agents agents = join(*state, 1);

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		exchange(agents.client, 64, 0);
		exchange(agents.server, 1024, before);
		board->order = rows[i].order;
		board->order.local = 64;
		board->order.remote = 1024;
		board->order.length = 8;
		agent_must(agents.client, task_post());
		/* The old value is returned locally, and the new one is in the peer's memory. */
		assert_true(exchange(agents.client, 64, 0) == before);
		assert_true(exchange(agents.server, 1024, 0) == rows[i].after);
	}
	stand_stop(agents);
}

static const unsigned int lengths[] = {1, 2, 16};

/* Posts a list with one completion; each request has its own source and target. */
static void check_list(struct stand_agents agents, const struct stand_order *order)
{
	bool is_read = order->operation == POST_READ;
	struct agent *from = is_read ? agents.server : agents.client;
	struct agent *to = is_read ? agents.client : agents.server;
	unsigned int posted = order->count ? order->count : order->list;

	agent_must(from, task_fill(order->list, 0, STAND_BUFFER));
	agent_must(to, task_fill(99, 0, STAND_BUFFER));
	board->order = *order;
	agent_must(agents.client, task_post());
	agent_must(agents.client, task_nothing());
	if (board->plan.pair.transport == TRANSPORT_UC)
		usleep(20000);
	for (size_t i = 0; i < order->list; i++) {
		size_t target = (is_read ? order->local : order->remote) + i * order->step;
		size_t source = (is_read ? order->remote : order->local) + i * order->step;

		if (i + posted >= order->list)
			agent_must(to, task_compare(order->list, target, order->length, source));
		else
			agent_must(to, task_compare(99, target, order->length, target));
	}
}

static void test_lists_of_writes(void **state)
{
	struct stand_agents agents = join(*state, 1);
	struct stand_order order = {
		.operation = POST_WRITE, .remote = 5000, .length = 48, .step = 100};

	for (size_t i = 0; i < 2 * ARRAY_LENGTH(lengths); i++) {
		order.list = lengths[i / 2];
		order.count = 0;
		order.is_inline = i % 2;
		check_list(agents, &order);
		/* Only the last requests of the list. */
		order.count = (order.list + 1) / 2;
		check_list(agents, &order);
	}
	stand_stop(agents);
}

static void test_lists_of_reads(void **state)
{
	struct stand_agents agents = join(*state, 1);
	struct stand_order order = {
		.operation = POST_READ, .remote = 5000, .length = 48, .step = 100};

	for (size_t i = 0; i < ARRAY_LENGTH(lengths); i++) {
		order.list = lengths[i];
		check_list(agents, &order);
	}
	stand_stop(agents);
}

static void test_lists_of_atomics(void **state)
{
	struct stand_agents agents = join(*state, 1);

	for (size_t i = 0; i < ARRAY_LENGTH(lengths); i++) {
		exchange(agents.server, 800, 1000);
		board->order = (struct stand_order){
			.operation = POST_FETCH_ADD,
			.list = lengths[i],
			.remote = 800,
			.length = 8,
			.add = 3,
		};
		agent_must(agents.client, task_post());
		assert_int_equal(exchange(agents.server, 800, 0), 1000 + 3 * lengths[i]);
		assert_int_equal(exchange(agents.client, 0, 0), 1000 + 3 * (lengths[i] - 1));
	}
	stand_stop(agents);
}

/* Receives are posted as a list, too. */
static void test_lists_of_sends(void **state)
{
	const struct variant *variant = *state;
	size_t front = transport_head(variant->transport);
	struct stand_agents agents = join(variant, 1);

	for (size_t i = 0; i < 4 * ARRAY_LENGTH(lengths); i++) {
		unsigned int n = lengths[i / 4];
		bool has_imm = i / 2 % 2;

		agent_must(agents.client, task_fill(i, 0, STAND_BUFFER));
		agent_must(agents.server, task_fill(99, 0, STAND_BUFFER));
		board->order = (struct stand_order){
			.list = n, .local = 9000, .length = front + 48, .step = 200};
		agent_must(agents.server, task_receives());
		board->order = (struct stand_order){
			.operation = has_imm ? POST_SEND_IMM : POST_SEND,
			.list = n,
			.length = 48,
			.step = 100,
			.is_inline = i % 2,
			.imm = IMM,
		};
		agent_must(agents.client, task_post());
		for (size_t j = 0; j < n; j++) {
			struct outcome outcome = agent_must(agents.server, task_take());

			assert_int_equal(outcome.value, front + 48);
			assert_int_equal(outcome.received.offset, has_imm ? IMM + j : 0);
			agent_must(agents.server,
				   task_compare(i, 9000 + front + 200 * j, 48, 100 * j));
		}
		agent_must(agents.client, task_nothing());
	}
	stand_stop(agents);
}

#define FIELD(name) \
	offsetof(struct manual_qp_address, name), sizeof(((struct manual_qp_address *)0)->name)

/* An address from the peer is checked before it is passed to the device. */
static void test_wrong_addresses(void **state)
{
	static const struct {
		struct manual_qp_address address;
		size_t offset;
		size_t length;
		const char *words;
	} rows[] = {
		{{.qpn = 0},                      FIELD(qpn),  "invalid queue pair number: 0"             },
		{{.qpn = 1},                      FIELD(qpn),  "invalid queue pair number: 0x1"           },
		{{.qpn = 1U << 24},               FIELD(qpn),  "invalid queue pair number: 0x1000000"     },
		{{.psn = 1U << 24},               FIELD(psn),  "invalid packet sequence number: 0x1000000"},
		{{.mtu = (enum ibv_mtu)6},        FIELD(mtu),  "invalid MTU: 0x6"                         },
		{{.mtu = (enum ibv_mtu)1000},     FIELD(mtu),  "invalid MTU: 0x3e8"                       },
		{{.mtu = (enum ibv_mtu)0},        FIELD(mtu),  "invalid MTU: 0"                           },
		{{.size = UINT64_MAX},            FIELD(size), "buffer wraps around"                      },
		{{.gid = {0}},                    FIELD(gid),  "sent no GID"                              },
		{{.gid = {0xff, 2}},              FIELD(gid),  "GID is a multicast address"               },
		{{.gid = {0xfe, 0x80, [15] = 1}}, FIELD(gid),  "is IPv6, the local one is IPv4"           },
		{{.qkey = 1U << 31},              FIELD(qkey), "invalid Q_Key: 0x80000000"                },
	};
	const struct variant *variant = *state;
	struct resources before = resources_count();
	struct stand_agents agents;

	stand_plan(variant->transport, variant->wait, 1);
	agents = stand_endpoints();
	agent_must(agents.client, task_pairs(1));
	agent_must(agents.server, task_pairs(1));
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct manual_qp_address *peer_address = &board->addresses[SERVER][0];
		const struct manual_qp_address original = *peer_address;

		/* Only datagrams use a Q_Key. */
		if (rows[i].address.qkey && variant->transport != TRANSPORT_UD)
			continue;
		memcpy((char *)peer_address + rows[i].offset,
		       (const char *)&rows[i].address + rows[i].offset, rows[i].length);
		agent_must_fail(agents.client, task_join(), rows[i].words);
		*peer_address = original;
	}
	/* The rejected addresses had no effect. */
	agent_must(agents.server, task_join());
	agent_must(agents.client, task_join());
	stand_send(agents.client, agents.server, 0, 100);
	agent_must_fail(agents.client, task_join(),
			"no queue pair to connect; call manual_qp_open first");
	stand_stop(agents);
	assert_resources(before);
}

/* Unsupported settings, on a port whose MTU is not the maximum. */
static void test_refusals(void **unused)
{
	static const struct {
		struct stand_plan plan;
		const char *words;
	} rows[] = {
		{{.pair = {.port = 9}},						      "device vmspare has no port 9"                  },
		{{.pair = {.gid_index = 777}},					       "port 1 has no GID with index 777"              },
		{{.pair = {.mtu = IBV_MTU_4096}},                                            "MTU 4096 exceeds the port's MTU 1024"          },
		{{.pair = {.mtu = (enum ibv_mtu)9}},                                         "MTU 0 exceeds the port's MTU 1024"             },
		{{.pair = {.sl = 16}},						       "service level 16 exceeds the device's limit 15"},
		{{.settings = {.send_depth = 4000000}},
		 "send queue depth 4000000 exceeds the device's limit"								       },
		{{.settings = {.max_inline = 100000}},
		 "inline size 100000 exceeds the device's limit 512"									 },
		{{.settings = {.max_message = 1025}, .pair = {.transport = TRANSPORT_UD}},
		 "message size 1025 exceeds the MTU 1024, the limit of a datagram"                                                           },
		{{.settings = {.max_message = 513},
		  .pair = {.transport = TRANSPORT_UD, .mtu = IBV_MTU_512}},
		 "message size 513 exceeds the MTU 512"										      },
	};
	struct resources before = resources_count();
	struct stand_agents agents;

	shell_until("rdma link show " SPARE_DEVICE "/1 | grep -q 'state ACTIVE'");
	stand_plan(TRANSPORT_RC, RDMA_POLL, 1);
	snprintf(board->plan.device, sizeof(board->plan.device), SPARE_DEVICE);
	agents = stand_endpoints();
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		board->plan.settings = rows[i].plan.settings;
		board->plan.settings.own_receives = true;
		board->plan.pair = rows[i].plan.pair;
		agent_must_fail(agents.client, task_pairs(1), rows[i].words);
		agent_must(agents.client, task_close_contexts());
	}
	stand_plan(TRANSPORT_RC, RDMA_POLL, 1);
	board->plan.settings.own_receives = false;
	agent_must_fail(agents.client, task_pairs(1),
			"must post its own receives; set own_receives");
	stand_plan(TRANSPORT_RC, RDMA_POLL, 1);
	stand_join(agents, 1);
	stand_send(agents.server, agents.client, 0, 100);
	stand_stop(agents);
	assert_resources(before);
}

/* Reports the path settings of the queue pair. */
static int run_path(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct error error = {0};
	int code = ibv_query_qp(here.contexts[0].qp, &attr,
				IBV_QP_PATH_MTU | IBV_QP_AV | IBV_QP_TIMEOUT, &init);

	*value = 128U << attr.path_mtu;
	ctx->received.length = attr.ah_attr.grh.traffic_class;
	ctx->received.offset = attr.ah_attr.grh.hop_limit;
	return stand_end(ctx, -code, &error);
}

static int run_is_soft(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	struct ibv_device_attr attr;
	struct error error = {0};
	int code = ibv_query_device(here.contexts[0].qp->context, &attr);

	*value = !code && device_kind_is_soft(&attr);
	return stand_end(ctx, -code, &error);
}

static void test_path(void **unused)
{
	struct stand_agents agents;
	struct outcome outcome;
	bool is_soft;

	stand_plan(TRANSPORT_RC, RDMA_POLL, 1);
	agents = stand_endpoints();
	board->plan.pair.mtu = IBV_MTU_512;
	board->plan.pair.traffic_class = 0x68;
	board->plan.pair.hop_limit = 7;
	agent_must(agents.client, task_pairs(1));
	board->plan.pair = (struct manual_qp_settings){.gid_index = MANUAL_QP_GID_BEST};
	agent_must(agents.server, task_pairs(1));
	agent_must(agents.server, task_join());
	agent_must(agents.client, task_join());
	/* The smaller MTU is used; the rest are local settings. */
	outcome = agent_must(agents.client, (struct task){.run = run_path});
	assert_int_equal(outcome.value, 512);
	assert_int_equal(outcome.received.length, 0x68);
	/* On RoCE, the kernel uses the hop limit of its own routes. */
	is_soft = agent_must(agents.client, (struct task){.run = run_is_soft}).value;
	assert_int_equal(outcome.received.offset, is_soft ? 7 : 64);
	outcome = agent_must(agents.server, (struct task){.run = run_path});
	assert_int_equal(outcome.value, 512);
	assert_int_equal(outcome.received.length, 0);
	/* The default time to live of IP: RFC 1340. */
	assert_int_equal(outcome.received.offset, 64);
	stand_send(agents.client, agents.server, 0, 3000);
	stand_stop(agents);
}

/*
 * Returns the index of the first GID other than the chosen one in value, and puts it on the
 * board.
 */
static int run_find_another(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	const uint8_t *chosen = board->addresses[CLIENT][0].gid;
	union ibv_gid gid;

	*value = 0;
	while (!ibv_query_gid(here.endpoint.verbs, 1, (int)*value, &gid)) {
		if (memcmp(gid.raw, chosen, sizeof(gid)) != 0) {
			memcpy(board->gid, gid.raw, sizeof(board->gid));
			return 0;
		}
		++*value;
	}
	return -1;
}

/* IPv4 is preferred among several GIDs; another GID is used if requested. */
static void test_gids(void **unused)
{
	static const uint8_t mapped[12] = {[10] = 0xff, 0xff};
	uint8_t chosen[sizeof(union ibv_gid)];
	struct stand_agents agents;
	struct outcome another;

	stand_plan(TRANSPORT_UD, RDMA_EVENT, 1);
	agents = stand_endpoints();
	stand_join(agents, 1);
	memcpy(chosen, board->addresses[CLIENT][0].gid, sizeof(chosen));
	assert_memory_equal(chosen, mapped, sizeof(mapped));
	another = agent_must(agents.client, (struct task){.run = run_find_another});
	stand_part(agents);
	board->plan.pair.gid_index = (int)another.value;
	stand_join(agents, 1);
	assert_memory_not_equal(board->addresses[CLIENT][0].gid, chosen, sizeof(chosen));
	stand_send(agents.client, agents.server, 0, 500);
	stand_stop(agents);
}

/* The GID of the given address is used, even among several of the same kind. */
static void test_gid_of_an_address(void **unused)
{
	uint8_t chosen[sizeof(union ibv_gid)];
	struct sockaddr_in6 address = {.sin6_family = AF_INET6};
	struct stand_agents agents;

	stand_plan(TRANSPORT_RC, RDMA_POLL, 1);
	agents = stand_endpoints();
	stand_join(agents, 1);
	memcpy(chosen, board->addresses[CLIENT][0].gid, sizeof(chosen));
	agent_must(agents.client, (struct task){.run = run_find_another});
	stand_part(agents);
	memcpy(&address.sin6_addr, board->gid, sizeof(address.sin6_addr));
	memcpy(&board->plan.pair.address, &address, sizeof(address));
	stand_join(agents, 1);
	assert_memory_equal(board->addresses[CLIENT][0].gid, board->gid, sizeof(chosen));
	assert_memory_not_equal(board->addresses[CLIENT][0].gid, chosen, sizeof(chosen));
	stand_send(agents.client, agents.server, 0, 500);
	stand_stop(agents);
}

static const struct variant rc_poll = {TRANSPORT_RC, RDMA_POLL, false};
static const struct variant rc_event = {TRANSPORT_RC, RDMA_EVENT, false};
static const struct variant rc_adaptive = {TRANSPORT_RC, RDMA_ADAPTIVE, false};
static const struct variant rc_classic = {TRANSPORT_RC, RDMA_POLL, true};
static const struct variant uc_poll = {TRANSPORT_UC, RDMA_POLL, false};
static const struct variant uc_event = {TRANSPORT_UC, RDMA_EVENT, false};
static const struct variant uc_classic = {TRANSPORT_UC, RDMA_EVENT, true};
static const struct variant ud_poll = {TRANSPORT_UD, RDMA_POLL, false};
static const struct variant ud_event = {TRANSPORT_UD, RDMA_EVENT, false};
static const struct variant ud_classic = {TRANSPORT_UD, RDMA_EVENT, true};

#define ON_RC(test) WITH(test, rc_poll), WITH(test, rc_event), WITH(test, rc_classic)
#define ON_UC(test) WITH(test, uc_poll), WITH(test, uc_event), WITH(test, uc_classic)
#define ON_UD(test) WITH(test, ud_poll), WITH(test, ud_event), WITH(test, ud_classic)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		ON_RC(test_send),
		WITH(test_send, rc_adaptive),
		ON_UC(test_send),
		ON_UD(test_send),
		ON_RC(test_sends_with_immediate_and_inline_data),
		ON_UC(test_sends_with_immediate_and_inline_data),
		ON_UD(test_sends_with_immediate_and_inline_data),
		ON_RC(test_write),
		ON_UC(test_write),
		ON_RC(test_read),
		ON_RC(test_atomics),
		ON_RC(test_lists_of_writes),
		ON_UC(test_lists_of_writes),
		ON_RC(test_lists_of_reads),
		ON_RC(test_lists_of_atomics),
		ON_RC(test_lists_of_sends),
		ON_UC(test_lists_of_sends),
		ON_UD(test_lists_of_sends),
		WITH(test_wrong_addresses, rc_poll),
		WITH(test_wrong_addresses, uc_poll),
		WITH(test_wrong_addresses, ud_poll),
		cmocka_unit_test_setup_teardown(test_refusals, spare_make, spare_remove),
		ALONE(test_path),
		ALONE(test_gids),
		ALONE(test_gid_of_an_address),
	};
	const struct rows rows = ROWS(tests);

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return rows_run(&rows, 1, stand_share);
}
