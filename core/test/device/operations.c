/* SPDX-License-Identifier: MIT */
/* All operations on a device, in every completion mode, between two processes. */
#include <ifaddrs.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/address.h"
#include "core/rdma/context.h"
#include "core/test/lib/rows.h"

#define BUFFER (1U << 16)

/* How both sides wait and post. */
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

/* Simulates a provider without ibv_wr_*. */
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
		/* rxe has ibv_wr_*; otherwise the other variants would test nothing. */
		assert_int_equal(agent_must(pair.server, classic).value, 1);
		assert_int_equal(agent_must(pair.client, classic).value, 1);
	}
	return pair;
}

static void stop_pair(struct pair pair)
{
	agents_stop(pair.server, pair.client);
}

/*
 * Sizes around the inline limit (256, including a header of 24), the MTU (4096, 1024) and
 * the buffer.
 */
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
	/* The bytes after the message are unchanged. */
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

		/* Write the same bytes back from the server. */
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
	/* Before any write. */
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
	/* The last write is still reported. */
	agent_begin(pair.server, task_recv());
	agent_must(pair.client, task_notify_write());
	expect_note(pair.server, RDMA_MESSAGE_WRITTEN, 300, 5000);

	agent_begin(pair.client, task_recv());
	agent_must(pair.server, task_write(0, BUFFER - 1, 1));
	agent_must(pair.server, task_notify_write());
	expect_note(pair.client, RDMA_MESSAGE_WRITTEN, 1, BUFFER - 1);

	/* Only the written and read ranges of the buffers have changed. */
	agent_must(pair.server, task_compare(2, 0, 5000, 0));
	agent_must(pair.server, task_compare(2, 5300, BUFFER - 5300, 5300));
	agent_must(pair.client, task_compare(1, 0, 20000, 0));
	agent_must(pair.client, task_compare(2, 20000, 34, 12));
	agent_must(pair.client, task_compare(1, 20034, BUFFER - 20035, 20034));
	stop_pair(pair);
}

static int run_forge_notification(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	ctx->last_write.length = task->a;
	ctx->last_write.offset = task->b;
	return 0;
}

/* A notification is checked against the local buffer before it is reported. */
static void test_invalid_notification(void **unused)
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

		agent_must(pair.client, (struct task){.run = run_forge_notification,
						      .a = rows[i].length,
						      .b = rows[i].offset});
		agent_begin(pair.server, task_recv());
		agent_must(pair.client, task_notify_write());
		outcome = agent_end(pair.server);
		if (rows[i].good)
			assert_succeeded(&outcome);
		else
			assert_failed(&outcome, "exceeds the buffer of 65536 bytes");
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

/* The last message before the peer disconnects is still received. */
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
	agent_must_fail(pair.server, task_recv(), "the peer closed");
	agent_must_fail(pair.server, task_write(0, 0, 1), "the peer closed");
	agent_stop(pair.server);
}

/* A posted receive takes a message that arrives before rdma_recv. */
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
	/* A received message keeps the buffer until rdma_recv. */
	agent_must(pair.client, task_send(500));
	agent_must(pair.server, task_read(BUFFER - 1, 0, 1));
	agent_must(pair.server, task_prepare());
	assert_int_equal(agent_must(pair.server, task_recv()).value, 500);
	agent_must(pair.server, task_compare(1, 0, 500, 0));
	stop_pair(pair);
}

/* Refused calls report a reason and leave the connection usable. */
static void test_refusals(void **state)
{
	static const struct {
		size_t local;
		size_t remote;
		size_t length;
		const char *words;
	} rows[] = {
		{0,          0,        BUFFER + 1, "65537 bytes at offset 0 exceed the buffer of 65536"       },
		{1,          0,        BUFFER,     "65536 bytes at offset 1 exceed the buffer of 65536"       },
		{BUFFER + 1, 0,        0,          "0 bytes at offset 65537 exceed the buffer of 65536"       },
		{0,          1,        BUFFER,     "65536 bytes at offset 1 exceed the peer's buffer of 65536"},
		{0,          BUFFER,   1,          "1 bytes at offset 65536 exceed the peer's buffer of 65536"},
		{0,          SIZE_MAX, 2,          "exceed the peer's buffer of 65536"                        },
		{SIZE_MAX,   0,        2,          "exceed the buffer of 65536"                               },
		{1,          1,        SIZE_MAX,   "exceed the buffer of 65536"                               },
	};
	struct pair pair = connect_pair(*state);

	agent_must_fail(pair.client, task_send(BUFFER + 1),
			"send: 65537 bytes exceed the buffer of 65536");
	agent_must_fail(pair.client, task_send(SIZE_MAX), "exceed the buffer of 65536");
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

/* With buffers of different sizes, the smaller one is the limit. */
static void test_different_buffer_sizes(void **unused)
{
	const struct rdma_context small = {.buffer_size = 100};
	const struct rdma_context large = {.buffer_size = 5000};
	struct pair pair = {agent_start(&small), agent_start(&large)};

	agents_connect(pair.server, pair.client);
	agent_must_fail(pair.client, task_send(101), "101 bytes exceed the peer's buffer of 100");
	agent_must_fail(pair.client, task_write(0, 0, 101), "exceed the peer's buffer of 100");
	agent_must_fail(pair.server, task_read(0, 0, 101), "exceed the buffer of 100");
	agent_must(pair.client, task_write(4900, 0, 100));
	agent_must(pair.server, task_read(0, 4900, 100));
	agents_talk(pair.server, pair.client);
	stop_pair(pair);
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
	/* The loopback interface has no link-local address. */
	if (interface && strcmp(interface, "lo") != 0)
		assert_string_not_equal(host, "");
}

static void test_addresses(void **unused)
{
	char link_local[64];
	const char *const hosts[] = {device_host(), device_host6(), link_local};

	link_local_host(link_local, sizeof(link_local));
	for (size_t i = 0; i < ARRAY_LENGTH(hosts); i++) {
		const struct variant variant = {.host = hosts[i]};
		struct pair pair;

		if (!*hosts[i])
			continue;
		pair = connect_pair(&variant);
		send_one_way(pair.client, pair.server, 5000, i);
		agent_must(pair.server, task_write(0, 10, 20));
		stop_pair(pair);
	}
}

static struct rdma_context own_receives(int cq_notify)
{
	return (struct rdma_context){.cq_notify = cq_notify, .settings = {.own_receives = true}};
}

/* Posts a receive and takes its completion directly. */
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
		agent_must_fail(pair.server, task_prepare(),
				"the caller posts this context's receives");
		agent_must_fail(pair.server, task_recv(),
				"the caller posts this context's receives");
		agent_must(pair.client, task_fill(3, 0, 4096));
		agent_must(pair.server, (struct task){.run = run_post_own, .a = 1000, .b = 3000});
		agent_must(pair.client, task_send(200));
		/* The message has a header of 24 bytes. */
		assert_int_equal(agent_must(pair.server, (struct task){.run = run_take_own}).value,
				 224);
		agent_must(pair.server, task_compare(3, 1024, 200, 0));
		stop_pair(pair);
	}
}

static const struct variant poll_mode = {.cq_notify = RDMA_POLL};
static const struct variant event_mode = {.cq_notify = RDMA_EVENT};
static const struct variant adaptive_mode = {.cq_notify = RDMA_ADAPTIVE};
static const struct variant classic_poll = {.cq_notify = RDMA_POLL, .classic = true};
static const struct variant classic_event = {.cq_notify = RDMA_EVENT, .classic = true};
static const struct variant no_inline = {.max_inline = RDMA_NO_INLINE};
static const struct variant little_inline = {.max_inline = 64, .classic = true};

#define IN_EACH_MODE(test) WITH(test, poll_mode), WITH(test, event_mode), WITH(test, adaptive_mode)

static const struct CMUnitTest tests[] = {
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
	ALONE(test_invalid_notification),
	IN_EACH_MODE(test_the_last_message),
	ALONE(test_different_buffer_sizes),
	ALONE(test_addresses),
	ALONE(test_own_receives),
};

int main(int argc, char **argv)
{
	const struct rows rows[] = {ROWS(tests), rows_contexts, rows_waits};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return rows_run(rows, ARRAY_LENGTH(rows), NULL);
}
