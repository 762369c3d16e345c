/* SPDX-License-Identifier: MIT */
/* Every operation on a real device, in every mode, between two processes. */
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/address.h"
#include "core/context.h"
#include "core/test/agent.h"

#define BUFFER       (1U << 16)
#define NR_HUGEPAGES "/proc/sys/vm/nr_hugepages"

/* How both ends of a test wait and post. */
struct variant {
	int cq_notify;
	bool classic;
	uint32_t max_inline;
	const char *host; /* NULL: the device's IPv4 address */
};

struct pair {
	struct agent *server;
	struct agent *client;
};

/* As with a provider that has no ibv_wr_*. */
static int run_post_classically(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	*value = ctx->state->queue.qpx != NULL;
	ctx->state->queue.qpx = NULL;
	return 0;
}

static struct pair connect_pair(const struct variant *variant)
{
	const struct rdma_context settings = {
		.buffer_size = BUFFER,
		.cq_notify = variant->cq_notify,
		.settings = {.max_inline = variant->max_inline},
	};
	const struct task classic = {.run = run_post_classically};
	struct pair pair = {agent_start(&settings), agent_start(&settings)};

	agents_connect_to(pair.server, pair.client, variant->host ? variant->host : device_host());
	if (variant->classic) {
		/* rxe has them: else the other variants would prove nothing. */
		assert_int_equal(agent_must(pair.server, classic).value, 1);
		assert_int_equal(agent_must(pair.client, classic).value, 1);
	}
	return pair;
}

static void stop_pair(struct pair pair)
{
	agent_must(pair.client, task_close());
	agent_must(pair.server, task_close());
	agent_stop(pair.client);
	agent_stop(pair.server);
}

/* Around what goes inline (256 with a head of 24), the MTU (4096, 1024) and the buffer. */
static const size_t sizes[] = {0,    1,    7,    63,   64,   231,  232,  233,  256,        1000,
			       1024, 1025, 4071, 4072, 4073, 4096, 4097, 8192, BUFFER - 1, BUFFER};

static void send_one_way(struct agent *from, struct agent *to, size_t length, size_t seed)
{
	struct outcome outcome;

	agent_must(from, task_fill(seed, 0, BUFFER));
	agent_must(to, task_fill(seed + 1, 0, BUFFER));
	agent_begin(to, task_recv());
	agent_must(from, task_send(length));
	outcome = agent_end(to);
	assert_succeeded(&outcome);
	assert_int_equal(outcome.value, length);
	assert_int_equal(outcome.received.kind, RDMA_MESSAGE_DATA);
	assert_int_equal(outcome.received.length, length);
	assert_int_equal(outcome.received.offset, 0);
	agent_must(to, task_compare(seed, 0, length, 0));
	/* What lies behind the message is left alone. */
	agent_must(to, task_compare(seed + 1, length, BUFFER - length, length));
}

static void test_send(void **state)
{
	struct pair pair = connect_pair(*state);

	for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
		send_one_way(pair.client, pair.server, sizes[i], 10 * i);
		send_one_way(pair.server, pair.client, sizes[i], 10 * i + 5);
	}
	stop_pair(pair);
}

static void test_write(void **state)
{
	static const struct {
		size_t local;
		size_t remote;
		size_t length;
	} rows[] = {
		{0,          0,          BUFFER},
                {0,          0,          1     },
                {5,          9,          1     },
                {0,          0,          0     },
		{100,        40000,      256   },
                {3,          5,          257   },
                {40000,      100,        4096  },
                {1,          3,          4097  },
		{0,          BUFFER - 1, 1     },
                {BUFFER - 1, 0,          1     },
                {BUFFER,     BUFFER,     0     },
                {7,          1000,       30000 },
	};
	struct pair pair = connect_pair(*state);

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		size_t remote = rows[i].remote;
		size_t end = remote + rows[i].length;

		agent_must(pair.client, task_fill(i, 0, BUFFER));
		agent_must(pair.server, task_fill(100 + i, 0, BUFFER));
		agent_must(pair.client, task_write(rows[i].local, remote, rows[i].length));
		agent_must(pair.server, task_compare(i, remote, rows[i].length, rows[i].local));
		agent_must(pair.server, task_compare(100 + i, 0, remote, 0));
		agent_must(pair.server, task_compare(100 + i, end, BUFFER - end, end));
		agent_must(pair.client, task_compare(i, 0, BUFFER, 0));

		/* And back, by the server, from its own end. */
		agent_must(pair.server, task_write(remote, rows[i].local, rows[i].length));
		agent_must(pair.client, task_compare(i, 0, BUFFER, 0));
	}
	stop_pair(pair);
}

static void test_read(void **state)
{
	static const struct {
		size_t local;
		size_t remote;
		size_t length;
	} rows[] = {
		{0,          0,          BUFFER},
                {0,          0,          1     },
                {5,          9,          1     },
                {0,          0,          0     },
		{100,        40000,      256   },
                {3,          5,          257   },
                {40000,      100,        4096  },
                {1,          3,          4097  },
		{0,          BUFFER - 1, 1     },
                {BUFFER - 1, 0,          1     },
                {BUFFER,     BUFFER,     0     },
                {7,          1000,       30000 },
	};
	struct pair pair = connect_pair(*state);

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		size_t local = rows[i].local;
		size_t end = local + rows[i].length;

		agent_must(pair.client, task_fill(i, 0, BUFFER));
		agent_must(pair.server, task_fill(100 + i, 0, BUFFER));
		agent_must(pair.client, task_read(local, rows[i].remote, rows[i].length));
		agent_must(pair.client,
			   task_compare(100 + i, local, rows[i].length, rows[i].remote));
		agent_must(pair.client, task_compare(i, 0, local, 0));
		agent_must(pair.client, task_compare(i, end, BUFFER - end, end));
		agent_must(pair.server, task_compare(100 + i, 0, BUFFER, 0));
	}
	agent_must(pair.client, task_fill(77, 0, BUFFER));
	agent_must(pair.server, task_read(0, 10, 100));
	agent_must(pair.server, task_compare(77, 0, 100, 10));
	stop_pair(pair);
}

static void expect_note(struct agent *to, enum rdma_message_kind kind, size_t length, size_t offset)
{
	struct outcome outcome = agent_end(to);

	assert_succeeded(&outcome);
	assert_int_equal(outcome.received.kind, kind);
	assert_int_equal(outcome.received.length, length);
	assert_int_equal(outcome.received.offset, offset);
	assert_int_equal(outcome.value, length);
}

static void test_notifications(void **state)
{
	struct pair pair = connect_pair(*state);

	agent_must(pair.client, task_fill(1, 0, BUFFER));
	agent_must(pair.server, task_fill(2, 0, BUFFER));
	/* Of nothing yet. */
	agent_begin(pair.server, task_recv());
	agent_must(pair.client, task_notify_write());
	expect_note(pair.server, RDMA_MESSAGE_WRITTEN, 0, 0);

	agent_begin(pair.server, task_recv());
	agent_must(pair.client, task_write(10, 5000, 300));
	agent_must(pair.client, task_notify_write());
	expect_note(pair.server, RDMA_MESSAGE_WRITTEN, 300, 5000);
	agent_must(pair.server, task_compare(1, 5000, 300, 10));

	agent_begin(pair.server, task_recv());
	agent_must(pair.client, task_read(20000, 12, 34));
	agent_must(pair.client, task_notify_read());
	expect_note(pair.server, RDMA_MESSAGE_READ, 34, 12);
	/* The last write is still the one that was. */
	agent_begin(pair.server, task_recv());
	agent_must(pair.client, task_notify_write());
	expect_note(pair.server, RDMA_MESSAGE_WRITTEN, 300, 5000);

	agent_begin(pair.client, task_recv());
	agent_must(pair.server, task_write(0, BUFFER - 1, 1));
	agent_must(pair.server, task_notify_write());
	expect_note(pair.client, RDMA_MESSAGE_WRITTEN, 1, BUFFER - 1);

	/* None of them touched a buffer beyond what was written and read. */
	agent_must(pair.server, task_compare(2, 0, 5000, 0));
	agent_must(pair.server, task_compare(2, 5300, BUFFER - 5300, 5300));
	agent_must(pair.client, task_compare(1, 0, 20000, 0));
	agent_must(pair.client, task_compare(2, 20000, 34, 12));
	agent_must(pair.client, task_compare(1, 20034, BUFFER - 20035, 20034));
	stop_pair(pair);
}

static int run_lie(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	ctx->last_write.length = task->a;
	ctx->last_write.offset = task->b;
	return 0;
}

/* What a peer says of our buffer is checked before anybody acts on it. */
static void test_a_lying_notification(void **unused)
{
	static const struct {
		size_t length;
		size_t offset;
		bool good;
	} rows[] = {
		{BUFFER,     0,        true },
                {0,          BUFFER,   true },
                {BUFFER,     1,        false},
		{1,          BUFFER,   false},
                {SIZE_MAX,   2,        false},
                {2,          SIZE_MAX, false},
		{BUFFER + 1, 0,        false},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		const struct variant variant = {.cq_notify = RDMA_EVENT};
		struct pair pair = connect_pair(&variant);
		struct outcome outcome;

		agent_must(pair.client,
			   (struct task){.run = run_lie, .a = rows[i].length, .b = rows[i].offset});
		agent_begin(pair.server, task_recv());
		agent_must(pair.client, task_notify_write());
		outcome = agent_end(pair.server);
		if (rows[i].good)
			assert_succeeded(&outcome);
		else
			assert_failed(&outcome, "which are not within the buffer's 65536");
		stop_pair(pair);
	}
}

static int run_await_alarm(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	uint64_t deadline = clock_deadline(PATIENCE_MS);

	while (!alarm_raised(context_alarm(ctx)) && clock_left_ms(deadline))
		usleep(100);
	return alarm_raised(context_alarm(ctx)) ? 0 : -1;
}

/* The last thing that the other end said before it left is still heard. */
static void test_the_last_message(void **state)
{
	struct pair pair = connect_pair(*state);

	agent_must(pair.server, task_prepare());
	agent_must(pair.client, task_fill(5, 0, BUFFER));
	agent_must(pair.client, task_send(333));
	agent_stop(pair.client);
	agent_must(pair.server, (struct task){.run = run_await_alarm});
	assert_int_equal(agent_must(pair.server, task_recv()).value, 333);
	agent_must(pair.server, task_compare(5, 0, 333, 0));
	agent_must_fail(pair.server, task_recv(), "the other end closed");
	agent_must_fail(pair.server, task_write(0, 0, 1), "the other end closed");
	agent_stop(pair.server);
}

/* A receive that was prepared takes a message that comes before anybody waits for it. */
static void test_prepare(void **state)
{
	struct pair pair = connect_pair(*state);

	agent_must(pair.client, task_fill(1, 0, BUFFER));
	agent_must(pair.server, task_prepare());
	agent_must(pair.server, task_prepare());
	for (int i = 0; i < 3; i++) {
		agent_must(pair.client, task_send(1000));
		assert_int_equal(agent_must(pair.server, task_recv()).value, 1000);
		agent_must(pair.server, task_compare(1, 0, 1000, 0));
		agent_must(pair.server, task_prepare());
		agent_must(pair.server, task_fill(2, 0, BUFFER));
	}
	/* A message that has come keeps the buffer until it is asked for. */
	agent_must(pair.client, task_send(500));
	agent_must(pair.server, task_read(BUFFER - 1, 0, 1));
	agent_must(pair.server, task_prepare());
	assert_int_equal(agent_must(pair.server, task_recv()).value, 500);
	agent_must(pair.server, task_compare(1, 0, 500, 0));
	stop_pair(pair);
}

/* What is refused says why, and leaves the connection as it was. */
static void test_refusals(void **state)
{
	static const struct {
		size_t local;
		size_t remote;
		size_t length;
		const char *words;
	} rows[] = {
		{0,          0,        BUFFER + 1, "65537 bytes at 0 are not within the buffer's 65536"   },
		{1,          0,        BUFFER,     "65536 bytes at 1 are not within the buffer's 65536"   },
		{BUFFER + 1, 0,        0,          "0 bytes at 65537 are not within the buffer's 65536"   },
		{0,          1,        BUFFER,     "65536 bytes at 1 are not within the other end's 65536"},
		{0,          BUFFER,   1,          "1 bytes at 65536 are not within the other end's 65536"},
		{0,          SIZE_MAX, 2,          "are not within the other end's 65536"                 },
		{SIZE_MAX,   0,        2,          "are not within the buffer's 65536"                    },
		{1,          1,        SIZE_MAX,   "are not within the buffer's 65536"                    },
	};
	struct pair pair = connect_pair(*state);

	agent_must_fail(pair.client, task_send(BUFFER + 1),
			"send: 65537 bytes are more than the buffer's 65536");
	agent_must_fail(pair.client, task_send(SIZE_MAX), "are more than the buffer's 65536");
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct outcome outcome = agent_must_fail(
			pair.client, task_write(rows[i].local, rows[i].remote, rows[i].length),
			rows[i].words);

		assert_int_equal(strncmp(outcome.reason, "write: ", 7), 0);
		outcome = agent_must_fail(pair.client,
					  task_read(rows[i].local, rows[i].remote, rows[i].length),
					  rows[i].words);
		assert_int_equal(strncmp(outcome.reason, "read: ", 6), 0);
	}
	agents_talk(pair.server, pair.client);
	stop_pair(pair);
}

/* Two ends with buffers of different sizes: the smaller one is the limit. */
static void test_a_smaller_buffer(void **unused)
{
	const struct rdma_context small = {.buffer_size = 100};
	const struct rdma_context large = {.buffer_size = 5000};
	struct pair pair = {agent_start(&small), agent_start(&large)};

	agents_connect(pair.server, pair.client);
	agent_must_fail(pair.client, task_send(101),
			"101 bytes are more than the other end's buffer takes, 100");
	agent_must_fail(pair.client, task_write(0, 0, 101), "not within the other end's 100");
	agent_must_fail(pair.server, task_read(0, 0, 101), "not within the buffer's 100");
	agent_must(pair.client, task_write(4900, 0, 100));
	agent_must(pair.server, task_read(0, 4900, 100));
	agents_talk(pair.server, pair.client);
	stop_pair(pair);
}

static void test_before_there_is_a_connection(void **unused)
{
	struct agent *agent = agent_start(NULL);
	static const char words[] = "this context is not connected";

	agent_must_fail(agent, task_send(0), words);
	agent_must_fail(agent, task_recv(), words);
	agent_must_fail(agent, task_prepare(), words);
	agent_must_fail(agent, task_write(0, 0, 0), words);
	agent_must_fail(agent, task_read(0, 0, 0), words);
	agent_must_fail(agent, task_notify_write(), words);
	agent_must_fail(agent, task_notify_read(), words);
	agent_must_fail(agent, task_connect(), "nothing to connect: rdma_setup_client");
	agent_must_fail(agent, task_wait_for_client(), "does not listen: rdma_setup_server");
	agent_must(agent, task_close());
	agent_must(agent, task_close());

	agent_must(agent, task_setup_server(0, NULL));
	agent_must_fail(agent, task_send(0), words);
	agent_must_fail(agent, task_connect(), "nothing to connect: rdma_setup_client");
	agent_must_fail(agent, task_setup_server(0, NULL), "set up already; close it first");
	agent_must_fail(agent, task_setup_client(device_host(), 1, NULL),
			"set up already; close it first");
	agent_must(agent, task_close());
	agent_must(agent, task_setup_client(device_host(), 1, NULL));
	agent_must_fail(agent, task_wait_for_client(), "does not listen: rdma_setup_server");
	agent_must_fail(agent, task_send(0), words);
	agent_stop(agent);
}

static void link_local_host(char *host, size_t size)
{
	const char *interface = getenv("SOFTROCE_NETDEV");
	struct ifaddrs *list;
	char text[ADDRESS_TEXT];

	assert_non_null(interface);
	host[0] = '\0';
	assert_int_equal(getifaddrs(&list), 0);
	for (struct ifaddrs *own = list; own; own = own->ifa_next)
		if (own->ifa_addr && interface && !strcmp(own->ifa_name, interface) &&
		    address_is_link_local(own->ifa_addr))
			snprintf(host, size, "%s", address_text(own->ifa_addr, text));
	freeifaddrs(list);
	assert_string_not_equal(host, "");
}

static void test_addresses(void **unused)
{
	char link_local[64];
	const char *const hosts[] = {device_host(), device_host6(), link_local};

	link_local_host(link_local, sizeof(link_local));
	for (size_t i = 0; i < ARRAY_LENGTH(hosts); i++) {
		const struct variant variant = {.host = hosts[i]};
		struct pair pair = connect_pair(&variant);

		send_one_way(pair.client, pair.server, 5000, i);
		agent_must(pair.server, task_write(0, 10, 20));
		stop_pair(pair);
	}
}

static int run_tell_address(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	snprintf(ctx->reason, sizeof(ctx->reason), "%s by %s", ctx->address,
		 ctx->conn ? ibv_get_device_name(ctx->conn->verbs->device) : "any");
	return 0;
}

/* ib_dev, as a name and as an address, at both ends. */
static void test_named_devices(void **unused)
{
	const struct task tell = {.run = run_tell_address};
	const char *const names[] = {device_name(), device_host(), device_host6()};

	for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
		const char *host = i == 2 ? device_host6() : device_host();
		struct agent *server = agent_start(NULL);
		struct agent *client = agent_start(NULL);
		struct outcome outcome;
		char wanted[128];
		uint16_t port = agent_must(server, task_setup_server(0, names[i])).port;

		snprintf(wanted, sizeof(wanted), "%s by any", host);
		assert_string_equal(agent_must(server, tell).reason, wanted);
		agent_begin(server, task_wait_for_client());
		agent_must(client, task_setup_client(host, port, names[i]));
		snprintf(wanted, sizeof(wanted), "%s by %s", host, device_name());
		assert_string_equal(agent_must(client, tell).reason, wanted);
		agent_must(client, task_connect());
		outcome = agent_end(server);
		assert_succeeded(&outcome);
		agents_talk(server, client);
		agent_stop(client);
		agent_stop(server);
	}
}

static bool holds(struct rdma_context *ctx, bool condition, const char *text)
{
	if (!condition)
		snprintf(ctx->reason, sizeof(ctx->reason), "not true: %s", text);
	return condition;
}

#define HOLDS(condition) holds(ctx, condition, #condition)

static bool is_ready_to_send(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;

	return !ibv_query_qp(qp, &attr, IBV_QP_STATE, &init) && attr.qp_state == IBV_QPS_RTS;
}

/* What the fields of the specification mean once both ends are connected. */
static int run_check_fields(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	bool is_server = task->a;
	bool listens = is_server ? ctx->listener && ctx->listener->channel == ctx->ec && ctx->port
				 : !ctx->listener;
	bool good = HOLDS(ctx->ec && ctx->ec->fd >= 0) && HOLDS(listens) &&
		    HOLDS(ctx->conn && ctx->conn->verbs && ctx->conn != ctx->listener) &&
		    HOLDS(ctx->pd && ctx->pd->context == ctx->conn->verbs) &&
		    HOLDS(ctx->mr && ctx->mr->pd == ctx->pd && ctx->mr->addr == ctx->buffer) &&
		    HOLDS(ctx->mr->length == ctx->buffer_size) &&
		    HOLDS(ctx->cq && ctx->cq->channel) &&
		    HOLDS(ctx->qp && ctx->qp == ctx->conn->qp && ctx->qp->pd == ctx->pd) &&
		    HOLDS(ctx->qp->send_cq == ctx->cq && ctx->qp->recv_cq == ctx->cq) &&
		    HOLDS(is_ready_to_send(ctx->qp)) &&
		    HOLDS(ctx->buffer && (uintptr_t)ctx->buffer % 4096 == 0) &&
		    HOLDS(ctx->buffer_size == task->b) &&
		    HOLDS(ctx->event && ctx->event->event == RDMA_CM_EVENT_ESTABLISHED) &&
		    HOLDS(ctx->event->id == ctx->conn) && HOLDS(ctx->cq_notify == (int)task->c) &&
		    HOLDS(ctx->remote.address && ctx->remote.rkey) &&
		    HOLDS(ctx->remote.size == task->b) &&
		    HOLDS(ctx->max_inline >= 64 && ctx->max_inline <= 256);

	return good ? 0 : -1;
}

static int run_check_empty(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	*value = !ctx->ec && !ctx->listener && !ctx->conn && !ctx->pd && !ctx->mr && !ctx->cq &&
		 !ctx->qp && !ctx->buffer && !ctx->event && !ctx->state && !ctx->port;
	return 0;
}

static void test_fields(void **unused)
{
	for (size_t mode = RDMA_POLL; mode <= RDMA_ADAPTIVE; mode++) {
		for (size_t size = 0; size <= 10000; size += 10000) {
			const struct rdma_context settings = {.buffer_size = size,
							      .cq_notify = (int)mode};
			struct pair pair = {agent_start(&settings), agent_start(&settings)};
			struct task check = {.run = run_check_fields,
					     .a = 1,
					     .b = size ? size : 4096,
					     .c = mode};

			agents_connect(pair.server, pair.client);
			agent_must(pair.server, check);
			check.a = 0;
			agent_must(pair.client, check);
			agent_must(pair.client, task_close());
			check.run = run_check_empty;
			assert_int_equal(agent_must(pair.client, check).value, 1);
			agent_stop(pair.client);
			agent_stop(pair.server);
		}
	}
}

static void test_an_unknown_mode(void **unused)
{
	static const int modes[] = {-1, 3, 1000};

	for (size_t i = 0; i < ARRAY_LENGTH(modes); i++) {
		const struct rdma_context settings = {.cq_notify = modes[i]};
		struct agent *agent = agent_start(&settings);

		agent_must_fail(agent, task_setup_server(0, NULL), "cq_notify");
		agent_must_fail(agent, task_setup_client(device_host(), 1, NULL), "cq_notify");
		agent_stop(agent);
	}
}

static struct rdma_context own_receives(int cq_notify)
{
	return (struct rdma_context){.cq_notify = cq_notify, .settings = {.own_receives = true}};
}

/* Posts a receive of its own, and takes its completion itself. */
static int run_post_own(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	struct post_work work = {
		.id = 4711,
		.n_sges = 1,
		.sges = {{.addr = (uintptr_t)ctx->buffer + task->a,
			  .length = (uint32_t)task->b,
			  .lkey = ctx->mr->lkey}},
	};

	return post_receive(&ctx->state->queue, &work) ? -1 : 0;
}

static int run_take_own(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	struct error error = {0};
	struct ibv_wc wc;
	int got = completion_wait(context_completion(ctx), 1, &wc, 5 * NS_PER_S, &error);

	snprintf(ctx->reason, sizeof(ctx->reason), "status %d: %.200s", wc.status, error.text);
	*value = got == 1 ? wc.byte_len : 0;
	return got == 1 && wc.wr_id == 4711 && !wc.status ? 0 : -1;
}

static void test_own_receives(void **unused)
{
	for (int mode = RDMA_POLL; mode <= RDMA_ADAPTIVE; mode++) {
		const struct rdma_context settings = own_receives(mode);
		struct pair pair = {agent_start(&settings), agent_start(NULL)};

		agents_connect(pair.server, pair.client);
		agent_must_fail(pair.server, task_prepare(), "leaves receives to its caller");
		agent_must_fail(pair.server, task_recv(), "leaves receives to its caller");
		agent_must(pair.client, task_fill(3, 0, 4096));
		agent_must(pair.server, (struct task){.run = run_post_own, .a = 1000, .b = 3000});
		agent_must(pair.client, task_send(200));
		/* A head of 24 bytes goes before it. */
		assert_int_equal(agent_must(pair.server, (struct task){.run = run_take_own}).value,
				 224);
		agent_must(pair.server, task_compare(3, 1024, 200, 0));
		stop_pair(pair);
	}
}

static int run_huge_pages(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	/* The kernel's own word for the mapping that holds the buffer. */
	FILE *file = fopen("/proc/self/smaps", "re");
	bool inside = false;
	char line[512];

	while (file && fgets(line, sizeof(line), file)) {
		uintptr_t low;
		uintptr_t high;

		if (sscanf(line, "%lx-%lx ", &low, &high) == 2)
			inside = low <= (uintptr_t)ctx->buffer && (uintptr_t)ctx->buffer < high;
		else if (inside && sscanf(line, "KernelPageSize: %zu kB", value) == 1)
			break;
	}
	if (file)
		fclose(file);
	return 0;
}

static void test_huge_pages(void **unused)
{
	const struct rdma_context settings = {.buffer_size = 3 << 20,
					      .settings = {.huge_pages = true}};
	const struct rdma_context plain = {.buffer_size = 3 << 20};
	struct pair pair = {agent_start(&settings), agent_start(&plain)};

	agent_must_fail(pair.server, task_setup_client(device_host(), 1, NULL),
			"2 huge pages of 2048 KiB wanted, 0 free; sysctl vm.nr_hugepages=2");
	assert_int_equal(shell("echo 2 >" NR_HUGEPAGES), 0);
	agents_connect(pair.server, pair.client);
	assert_int_equal(agent_must(pair.server, (struct task){.run = run_huge_pages}).value, 2048);
	assert_int_equal(agent_must(pair.client, (struct task){.run = run_huge_pages}).value, 4);
	agent_must(pair.client, task_fill(1, 0, 3 << 20));
	agent_must(pair.client, task_write(0, 0, 3 << 20));
	agent_must(pair.server, task_compare(1, 0, 3 << 20, 0));
	stop_pair(pair);
}

static unsigned long huge_pages_before;

static int take_huge_pages(void **unused)
{
	FILE *file = fopen(NR_HUGEPAGES, "re");
	char line[32];

	if (!file || !fgets(line, sizeof(line), file))
		return -1;
	fclose(file);
	huge_pages_before = strtoul(line, NULL, 10);
	return shell("echo 0 >" NR_HUGEPAGES);
}

static int give_huge_pages(void **state)
{
	agents_end(state);
	return shell("echo %lu >" NR_HUGEPAGES, huge_pages_before);
}

/* One listener, client after client; those that vanish are dropped for the next. */
static void test_many_clients(void **unused)
{
	struct agent *server = agent_start(NULL);
	uint16_t port = agent_must(server, task_setup_server(0, NULL)).port;
	struct resources before = {0};
	size_t counted = 0;

	for (int i = 0; i < 8; i++) {
		struct agent *client = agent_start(NULL);
		struct outcome outcome;

		agent_must(client, task_setup_client(device_host(), port, NULL));
		agent_begin(server, task_wait_for_client());
		agent_must(client, task_connect());
		outcome = agent_end(server);
		assert_succeeded(&outcome);
		assert_int_equal(outcome.port, port);
		agents_talk(server, client);
		if (i % 2) {
			agent_kill(client);
			agent_must_fail(server, task_recv(), "the other end closed the connection");
			agent_must_fail(server, task_send(1),
					"the other end closed the connection");
		} else {
			agent_stop(client);
		}
		/* The first one is the measure for all that follow. */
		if (i == 1) {
			counted = agent_must(server, task_count()).value;
			before = resources_count();
		} else if (i > 1 && i % 2) {
			assert_count(server, counted);
			assert_resources(before);
		}
	}
	agent_stop(server);
}

static void test_a_port_of_ones_own(void **unused)
{
	struct agent *agents[2] = {agent_start(NULL), agent_start(NULL)};
	uint16_t port = agent_must(agents[0], task_setup_server(0, NULL)).port;

	agent_must(agents[0], task_close());
	/* Asked for by its number, it is the one that one gets. */
	assert_int_equal(agent_must(agents[0], task_setup_server(port, NULL)).port, port);
	assert_int_not_equal(agent_must(agents[1], task_setup_server(0, NULL)).port, port);
	agent_stop(agents[0]);
	agent_stop(agents[1]);
}

static void *accept_in_thread(void *argument)
{
	return rdma_wait_for_client(argument) ? argument : NULL;
}

/* Both ends in one process, and then a second pair beside them. */
static int run_two_in_one(struct rdma_context *unused, const struct task *task, size_t *value)
{
	struct rdma_context servers[2] = {{.cq_notify = RDMA_EVENT}, {.cq_notify = RDMA_POLL}};
	struct rdma_context clients[2] = {{.cq_notify = RDMA_ADAPTIVE}, {.cq_notify = RDMA_EVENT}};
	size_t length = 0;
	int failed = 0;

	for (int i = 0; i < 2; i++) {
		pthread_t thread;
		void *broken;

		failed |= rdma_setup_server(&servers[i], 0, NULL);
		pthread_create(&thread, NULL, accept_in_thread, &servers[i]);
		failed |= rdma_setup_client(&clients[i], task->host, servers[i].port, NULL);
		failed |= rdma_connect_server(&clients[i]);
		pthread_join(thread, &broken);
		failed |= broken != NULL;
	}
	for (int i = 0; i < 2 && !failed; i++) {
		memcpy(clients[i].buffer, i ? "two" : "one", 4);
		failed |= rdma_send(&clients[i], 4) || rdma_recv(&servers[i], &length);
		failed |= length != 4 || strcmp(servers[i].buffer, i ? "two" : "one") != 0;
	}
	/* The end of one pair is none of the other's business. */
	failed |= rdma_close(&servers[0]);
	failed |= rdma_recv(&clients[0], NULL) != -1;
	failed |= rdma_write(&clients[1], 0, 0, 4) || rdma_close(&clients[0]);
	failed |= rdma_send(&servers[1], 4) || rdma_recv(&clients[1], &length);
	failed |= rdma_close(&clients[1]) || rdma_close(&servers[1]);
	*value = (size_t)failed;
	return 0;
}

static void test_two_contexts_in_one_process(void **unused)
{
	struct agent *agent = agent_start(NULL);
	struct task task = {.run = run_two_in_one};

	snprintf(task.host, sizeof(task.host), "%s", device_host());
	assert_int_equal(agent_must(agent, task).value, 0);
	agent_stop(agent);
}

static atomic_bool about_to_wait;

/* Before or in the wait: both must end it. So many turns make it in it, mostly. */
static void *abort_soon(void *argument)
{
	while (!atomic_load(&about_to_wait))
		sched_yield();
	for (int i = 0; i < 1000; i++)
		sched_yield();
	rdma_abort(argument, "told to stop");
	return NULL;
}

enum waiting {
	WAITING_RECV,
	WAITING_SEND,
	WAITING_CLIENT,
};

/* Starts another thread that aborts, and waits. */
static int run_aborted(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	pthread_t thread;
	int result = -1;

	atomic_store(&about_to_wait, false);
	pthread_create(&thread, NULL, abort_soon, ctx);
	atomic_store(&about_to_wait, true);
	switch ((enum waiting)task->a) {
	case WAITING_RECV:
		result = rdma_recv(ctx, NULL);
		break;
	case WAITING_SEND:
		/* Nobody receives: the second one is held back. */
		result = rdma_send(ctx, 10);
		result = result ? result : rdma_send(ctx, 10);
		break;
	case WAITING_CLIENT:
		result = rdma_wait_for_client(ctx);
		break;
	}
	pthread_join(thread, NULL);
	return result;
}

static void test_abort(void **state)
{
	const struct variant *variant = *state;
	const struct rdma_context settings = {.cq_notify = variant->cq_notify};

	for (size_t i = WAITING_RECV; i <= WAITING_SEND; i++) {
		struct pair pair = {agent_start(&settings), agent_start(&settings)};

		agents_connect(pair.server, pair.client);
		agent_must_fail(pair.client, (struct task){.run = run_aborted, .a = i},
				"told to stop");
		agent_must_fail(pair.client, task_write(0, 0, 1), "told to stop");
		agent_must(pair.client, task_close());
		agent_must_fail(pair.server, task_read(0, 0, 1), "the other end closed");
		/* An aborted context is as good as new once it was closed. */
		agent_must(pair.server, task_close());
		agents_connect(pair.server, pair.client);
		agents_talk(pair.server, pair.client);
		stop_pair(pair);
	}
}

static void test_abort_of_a_listener(void **unused)
{
	struct agent *server = agent_start(NULL);

	agent_must(server, task_setup_server(0, NULL));
	agent_must_fail(server, (struct task){.run = run_aborted, .a = WAITING_CLIENT},
			"told to stop");
	agent_must_fail(server, task_wait_for_client(), "told to stop");
	agent_stop(server);
}

static void test_idle_timeout(void **state)
{
	const struct variant *variant = *state;
	const struct rdma_context settings = {.cq_notify = variant->cq_notify,
					      .settings = {.idle_timeout_ms = 30}};
	struct pair pair = {agent_start(&settings), agent_start(NULL)};
	struct outcome outcome;

	agent_must(pair.server, task_setup_server(0, NULL));
	outcome = agent_must_fail(pair.server, task_wait_for_client(), "no client within 30 ms");
	assert_int_equal(outcome.code, -ETIMEDOUT);
	assert_true(outcome.elapsed_ns >= 30 * NS_PER_MS);
	agent_must(pair.server, task_close());

	agent_stop(pair.server);
	pair.server = agent_start(NULL);
	pair.client = agent_start(&settings);
	agents_connect(pair.server, pair.client);
	outcome = agent_must_fail(pair.client, task_recv(), "receive: no message within 30 ms");
	assert_int_equal(outcome.code, -ETIMEDOUT);
	assert_true(outcome.elapsed_ns >= 30 * NS_PER_MS);
	/* It is no failure for good. */
	agent_must(pair.server, task_send(12));
	outcome = agent_must(pair.client, task_recv());
	assert_int_equal(outcome.value, 12);
	assert_int_equal(outcome.code, 0);
	stop_pair(pair);
}

/* Who only waits asks by itself whether the other end lives, without being in the way. */
static void test_waiting_longer_than_a_probe(void **state)
{
	const struct variant *variant = *state;
	const struct rdma_context settings = {.cq_notify = variant->cq_notify,
					      .settings = {.idle_timeout_ms = 2300}};
	struct pair pair = {agent_start(NULL), agent_start(&settings)};

	agents_connect(pair.server, pair.client);
	agent_must(pair.server, task_fill(8, 0, 4096));
	agent_must_fail(pair.client, task_recv(), "no message within 2300 ms");
	agent_must(pair.server, task_compare(8, 0, 4096, 0));
	agents_talk(pair.server, pair.client);
	stop_pair(pair);
}

static const struct variant poll_mode = {.cq_notify = RDMA_POLL};
static const struct variant event_mode = {.cq_notify = RDMA_EVENT};
static const struct variant adaptive_mode = {.cq_notify = RDMA_ADAPTIVE};
static const struct variant classic_poll = {.cq_notify = RDMA_POLL, .classic = true};
static const struct variant classic_event = {.cq_notify = RDMA_EVENT, .classic = true};
static const struct variant no_inline = {.max_inline = RDMA_NO_INLINE};
static const struct variant little_inline = {.max_inline = 64, .classic = true};

#define WITH(test, variant)                                                                   \
	{                                                                                     \
		.name = #test " " #variant, .test_func = (test), .teardown_func = agents_end, \
		.initial_state = (void *)(uintptr_t) & (variant)                              \
	}
#define IN_EACH_MODE(test) WITH(test, poll_mode), WITH(test, event_mode), WITH(test, adaptive_mode)
#define ALONE(test)        cmocka_unit_test_teardown(test, agents_end)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		IN_EACH_MODE(test_send),
		WITH(test_send, classic_poll),
		WITH(test_send, classic_event),
		WITH(test_send, no_inline),
		WITH(test_send, little_inline),
		IN_EACH_MODE(test_write),
		WITH(test_write, classic_poll),
		WITH(test_write, no_inline),
		WITH(test_write, little_inline),
		IN_EACH_MODE(test_read),
		WITH(test_read, classic_poll),
		IN_EACH_MODE(test_notifications),
		WITH(test_notifications, classic_event),
		IN_EACH_MODE(test_prepare),
		IN_EACH_MODE(test_refusals),
		ALONE(test_a_lying_notification),
		IN_EACH_MODE(test_the_last_message),
		ALONE(test_a_smaller_buffer),
		ALONE(test_before_there_is_a_connection),
		ALONE(test_addresses),
		ALONE(test_named_devices),
		ALONE(test_fields),
		ALONE(test_an_unknown_mode),
		ALONE(test_own_receives),
		cmocka_unit_test_setup_teardown(test_huge_pages, take_huge_pages, give_huge_pages),
		ALONE(test_many_clients),
		ALONE(test_a_port_of_ones_own),
		ALONE(test_two_contexts_in_one_process),
		IN_EACH_MODE(test_abort),
		ALONE(test_abort_of_a_listener),
		IN_EACH_MODE(test_idle_timeout),
		WITH(test_waiting_longer_than_a_probe, poll_mode),
		WITH(test_waiting_longer_than_a_probe, event_mode),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
