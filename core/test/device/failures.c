/* SPDX-License-Identifier: MIT */
/* Errors of connections and operations: each reports a reason in time and leaks nothing. */
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/rdma/context.h"
#include "core/test/lib/progress.h"
#include "core/test/lib/rows.h"

static void test_wrong_addresses(void **unused)
{
	static const struct {
		const char *host;
		const char *words;
	} rows[] = {
		{"127.0.0.1",            "127.0.0.1: no RDMA device is reachable through a loopback address"},
		{"::1",                  "::1: no RDMA device is reachable through a loopback address"      },
		{"::ffff:127.0.0.1",     "no RDMA device is reachable through a loopback address"           },
		{"203.0.113.9",          "203.0.113.9: cannot resolve the address: Network is unreachable"  },
		{"2001:db8::9",          "2001:db8::9: cannot resolve the address: Network is unreachable"  },
		{"",		     "'' is not a host"						 },
		{"no-such-host.invalid", "cannot resolve 'no-such-host.invalid'"                            },
	};
	struct agent *client = agent_start(NULL);
	struct resources before = resources_count();
	size_t counted;

	agent_must(client, task_setup_client(device_host(), 1, NULL));
	agent_must(client, task_close());
	counted = count_at_rest(client);
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		agent_must_fail(client, task_setup_client(rows[i].host, 1, NULL), rows[i].words);
		assert_count(client, counted);
	}
	assert_resources(before);
	agent_stop(client);
}

/* An unused address of the device's own network. */
static void test_unused_address(void **unused)
{
	struct agent *client = agent_start(NULL);
	struct resources before = resources_count();
	char host[64];

	snprintf(host, sizeof(host), "%.*s.253", (int)(strrchr(device_host(), '.') - device_host()),
		 device_host());
	/* Exclude the libraries' one-time initialization from the measurement. */
	agent_must(client, task_setup_client(device_host(), 1, NULL));
	agent_must(client, task_close());
	agent_must_fail(client, task_setup_client(host, 1, NULL), "cannot resolve the address");
	agent_stop(client);
	assert_resources(before);
}

static void test_no_listener(void **unused)
{
	struct agent *client = agent_start(NULL);
	char words[128];

	agent_must(client, task_setup_client(device_host(), 65000, NULL));
	snprintf(words, sizeof(words), "%s port 65000: no server is listening", device_host());
	agent_must_fail(client, task_connect(), words);
	agent_stop(client);
}

static void test_port_in_use(void **unused)
{
	struct agent *first = agent_start(NULL);
	struct agent *second = agent_start(NULL);
	uint16_t port = agent_must(first, task_setup_server(0, NULL)).port;
	size_t counted;
	char words[64];

	agent_must(second, task_setup_server(0, device_name()));
	agent_must(second, task_close());
	counted = count_at_rest(second);
	snprintf(words, sizeof(words), "port %u is in use", port);
	agent_must_fail(second, task_setup_server(port, NULL), words);
	agent_must_fail(second, task_setup_server(port, device_name()), words);
	assert_count(second, counted);
	agent_stop(second);
	agent_stop(first);
}

static void test_unknown_device(void **unused)
{
	struct agent *agent = agent_start(NULL);
	char words[64];

	snprintf(words, sizeof(words), "no device 'nope0'; available: %s", device_name());
	agent_must_fail(agent, task_setup_server(0, "nope0"), words);
	agent_must_fail(agent, task_setup_client(device_host(), 1, "nope0"), words);
	agent_stop(agent);
}

/* Drops CAP_IPC_LOCK and limits locked memory, like an ordinary user. */
static int run_limit_memlock(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	const struct rlimit limit = {task->a, task->a};
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	if (setrlimit(RLIMIT_MEMLOCK, &limit) || syscall(SYS_capget, &header, data))
		return -1;
	data[0].effective &= ~(1U << CAP_IPC_LOCK);
	return (int)syscall(SYS_capset, &header, data);
}

static void test_memlock(void **unused)
{
	const struct rdma_context settings = {.buffer_size = 1 << 20};
	struct agent *server = agent_start(&settings);
	struct agent *client = agent_start(&settings);
	static const char words[] =
		"cannot register 1 MiB: memlock is 64 KiB; set 'ulimit -l unlimited'";
	struct resources before = resources_count();
	struct agent *small = agent_start(&settings);
	struct outcome outcome;
	uint16_t port;

	agent_must(small, (struct task){.run = run_limit_memlock, .a = 65536});
	agent_must_fail(small, task_setup_client(device_host(), 1, NULL), words);
	assert_resources(before);

	/* A server reports the reason to its client. */
	agent_must(server, (struct task){.run = run_limit_memlock, .a = 65536});
	port = agent_must(server, task_setup_server(0, NULL)).port;
	agent_must(client, task_setup_client(device_host(), port, NULL));
	agent_begin(server, task_wait_for_client());
	agent_begin(client, task_connect());
	outcome = agent_end(server);
	assert_failed(&outcome, words);
	outcome = agent_end(client);
	assert_failed(&outcome, words);
	agent_stop(small);
	agent_stop(client);
	agent_stop(server);
}

/* Returns a limit of the device: the field at offset a of its attributes, or of its port's. */
static int run_query(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	union {
		struct ibv_device_attr device;
		struct ibv_port_attr port;
		char bytes[1];
	} attr;
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	uint32_t limit;

	if (!context || (task->b ? ibv_query_port(context, 1, &attr.port)
				 : ibv_query_device(context, &attr.device)))
		return -1;
	memcpy(&limit, attr.bytes + task->a, sizeof(limit));
	*value = limit;
	ibv_close_device(context);
	ibv_free_device_list(list);
	return 0;
}

struct excess {
	struct rdma_settings settings;
	const char *words;
	size_t field;
	bool of_port;
};

static const struct excess excesses[] = {
	{{.send_depth = 4000000},
	 "send queue depth 4000000 exceeds the device's limit %zu",				    offsetof(struct ibv_device_attr,									   max_qp_wr),
	 false},
	{{.recv_depth = 4000000},
	 "receive queue depth 4000000 exceeds the device's limit %zu",								    offsetof(struct ibv_device_attr,																	    max_qp_wr),
	 false},
	{{.max_sge = 5000},
	 "number of scatter/gather entries 5000 exceeds the device's limit %zu",										      offsetof(struct ibv_device_attr,																					       max_sge),
	 false},
	{{.outstanding_reads = 255},
	 "number of outstanding reads 255 exceeds the device's limit %zu",											offsetof(struct ibv_device_attr,																								 max_qp_rd_atom),
	 false},
	{{.ack_timeout = 32},                            "acknowledgment timeout 32 exceeds the device's limit 31",0,																								   false},
	{{.retry_count = 8},"retry count 8 exceeds the device's limit 7",                                                 0,false},
	{{.rnr_retry = 8},					 "RNR retry count 8 exceeds the device's limit 7",                       0,																					 false															  },
	{{.min_rnr_timer = 32},"RNR timer 32 exceeds the device's limit 31",0,false},
	{{.max_message = 1UL << 40},
	 "message size 1099511627776 exceeds the device's limit %zu",												 offsetof(struct ibv_port_attr,																																			       max_msg_sz),
	 true},
 /* No attribute reports it: 512 for rxe, 1024 for soft0. */
	{{.max_inline = 100000}, "inline size 100000 exceeds the device's limit ",0,false},
};

static void test_limits(void **unused)
{
	struct agent *snapshot = agent_start(NULL);

	for (size_t i = 0; i < ARRAY_LENGTH(excesses); i++) {
		const struct excess *excess = &excesses[i];
		const struct rdma_context settings = {.settings = excess->settings};
		struct agent *client = agent_start(&settings);
		struct agent *server = agent_start(&settings);
		struct agent *plain = agent_start(NULL);
		const struct task query = {
			.run = run_query, .a = excess->field, .b = excess->of_port};
		size_t limit = agent_must(snapshot, query).value;
		struct outcome outcome;
		char words[128];
		uint16_t port;

		snprintf(words, sizeof(words), "%s", excess->words);
		if (strstr(words, "%zu"))
			snprintf(strstr(words, "%zu"), 24, "%zu", limit);
		agent_must_fail(client, task_setup_client(device_host(), 1, NULL), words);

		/* A server detects it with its first client, and reports it to the client. */
		port = agent_must(server, task_setup_server(0, NULL)).port;
		agent_must(plain, task_setup_client(device_host(), port, NULL));
		agent_begin(server, task_wait_for_client());
		agent_must_fail(plain, task_connect(), words);
		outcome = agent_end(server);
		assert_failed(&outcome, words);
		agent_stop(client);
		agent_stop(server);
		agent_stop(plain);
	}
	agent_stop(snapshot);
}

static void test_no_receive_in_time(void **unused)
{
	static const uint8_t retries[] = {0, 1, RDMA_NONE};

	for (size_t i = 0; i < ARRAY_LENGTH(retries); i++) {
		const struct rdma_context settings = {
			.settings = {.own_receives = true, .rnr_retry = retries[i]}
                };
		struct agent *server = agent_start(&settings);
		struct agent *client = agent_start(NULL);

		agents_connect(server, client);
		agent_must_fail(client, task_send(10),
				"send: operation: RNR retry counter exceeded: the peer had no "
				"receive posted in time");
		/* The queue pair stays failed. */
		agent_must_fail(client, task_write(0, 0, 1), "RNR retry counter exceeded");
		agent_stop(client);
		agent_stop(server);
	}
}

/* By default, RNR retries are unlimited: the operation's own time limit ends it. */
static void test_send_without_receive(void **unused)
{
	struct agent *server = agent_start(NULL);
	struct agent *client = agent_start(NULL);

	agents_connect(server, client);
	agent_must(client, task_send(10));
	agent_must_fail(client, task_send(10),
			"send: no completion within 5000 ms; is the peer receiving?");
	agent_stop(client);
	agent_stop(server);
}

static int run_tamper(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	if (task->a)
		ctx->remote.rkey += 0x100;
	else
		ctx->remote.address += 1UL << 40;
	return 0;
}

static void test_remote_access_errors(void **unused)
{
	for (size_t i = 0; i < 4; i++) {
		struct agent *server = agent_start(NULL);
		struct agent *client = agent_start(NULL);

		agents_connect(server, client);
		agent_must(client, (struct task){.run = run_tamper, .a = i % 2});
		agent_must_fail(
			client, i / 2 ? task_write(0, 0, 8) : task_read(0, 0, 8),
			"remote access error: the peer rejected the address, length or rkey");
		agent_stop(client);
		agent_stop(server);
	}
}

static int run_break(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	return ibv_modify_qp(ctx->qp, &attr, IBV_QP_STATE) ? -1 : 0;
}

static void test_flush(void **unused)
{
	struct agent *server = agent_start(NULL);
	struct agent *client = agent_start(NULL);

	agents_connect(server, client);
	agent_must(client, (struct task){.run = run_break});
	agent_must_fail(
		client, task_recv(),
		"receive: Work Request Flushed Error: the connection ended before the operation completed");
	agent_stop(client);
	agent_must_fail(server, task_recv(), CLOSED);
	agent_stop(server);
}

/* Produces more completions than the queue can hold, without taking any. */
static int run_overrun(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	uint64_t deadline = clock_deadline(5000);
	struct post_work work = {
		.id = CONTEXT_OPERATION, .remote = ctx->remote.address, .rkey = ctx->remote.rkey};

	while (!alarm_raised(context_alarm(ctx)) && clock_left_ms(deadline)) {
		/* A full send queue rejects requests until an ACK arrives. */
		if (!post_send(&ctx->state->queue, &work, POST_WRITE, POST_CLASSIC,
			       IBV_SEND_SIGNALED))
			(*value)++;
	}
	return rdma_recv(ctx, NULL);
}

static void test_completion_queue_overrun(void **unused)
{
	const struct rdma_context settings = {
		.settings = {.send_depth = 2, .recv_depth = 1}
        };
	struct agent *server = agent_start(NULL);
	struct agent *client = agent_start(&settings);

	agents_connect(server, client);
	agent_must_fail(client, (struct task){.run = run_overrun}, "the completion queue overran");
	agent_stop(client);
	agent_stop(server);
}

static const struct CMUnitTest tests[] = {
	ALONE(test_wrong_addresses),
	ALONE(test_unused_address),
	ALONE(test_no_listener),
	ALONE(test_port_in_use),
	ALONE(test_unknown_device),
	ALONE(test_memlock),
	ALONE(test_limits),
	ALONE(test_no_receive_in_time),
	ALONE(test_send_without_receive),
	ALONE(test_remote_access_errors),
	ALONE(test_flush),
	ALONE(test_completion_queue_overrun),
};

int main(int argc, char **argv)
{
	const struct rows rows[] = {rows_deaths, rows_strangers, ROWS(tests), rows_removals};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return rows_run(rows, ARRAY_LENGTH(rows), progress_share);
}
