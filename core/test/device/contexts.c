/* SPDX-License-Identifier: MIT */
/* Contexts: set-up, fields, and many of them. */
#include <pthread.h>
#include <stdlib.h>

#include "core/test/lib/rows.h"
#include "core/test/lib/spare.h"

#define NR_HUGEPAGES "/proc/sys/vm/nr_hugepages"

static void test_calls_before_connecting(void **unused)
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
	agent_must_fail(agent, task_connect(),
			"no connection to make; call rdma_setup_client first");
	agent_must_fail(agent, task_wait_for_client(),
			"is not listening; call rdma_setup_server first");
	agent_must(agent, task_close());
	agent_must(agent, task_close());

	agent_must(agent, task_setup_server(0, NULL));
	agent_must_fail(agent, task_send(0), words);
	agent_must_fail(agent, task_connect(),
			"no connection to make; call rdma_setup_client first");
	agent_must_fail(agent, task_setup_server(0, NULL), "set up already; close it first");
	agent_must_fail(agent, task_setup_client(device_host(), 1, NULL),
			"set up already; close it first");
	agent_must(agent, task_close());
	agent_must(agent, task_setup_client(device_host(), 1, NULL));
	agent_must_fail(agent, task_wait_for_client(),
			"is not listening; call rdma_setup_server first");
	agent_must_fail(agent, task_send(0), words);
	agent_stop(agent);
}

/* Refused calls do not affect a client, before or after it connects. */
static void test_client_cannot_listen(void **unused)
{
	struct agent *server = agent_start(NULL);
	struct agent *client = agent_start(NULL);
	static const char words[] = "is not listening; call rdma_setup_server first";
	uint16_t port = agent_must(server, task_setup_server(0, NULL)).port;
	struct outcome outcome;

	agent_begin(server, task_wait_for_client());
	agent_must(client, task_setup_client(device_host(), port, NULL));
	agent_must_fail(client, task_wait_for_client(), words);
	agent_must(client, task_connect());
	outcome = agent_end(server);
	assert_succeeded(&outcome);
	agent_must_fail(client, task_wait_for_client(), words);
	agents_talk(server, client);
	agents_stop(server, client);
}

static int run_report_address(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	snprintf(ctx->reason, sizeof(ctx->reason), "%s by %s", ctx->address,
		 ctx->conn ? ibv_get_device_name(ctx->conn->verbs->device) : "any");
	return 0;
}

/* ib_dev as a name and as an address, on both sides. */
static void test_named_devices(void **unused)
{
	const struct task tell = {.run = run_report_address};
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

/* Checks the fields of the specification once both sides are connected. */
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

/* task->a and task->b: the peer's rnr_retry, and the context's own min_rnr_timer. */
static int run_check_path(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	bool good = HOLDS(!ibv_query_qp(ctx->qp, &attr,
					IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
						IBV_QP_MIN_RNR_TIMER | IBV_QP_MAX_QP_RD_ATOMIC |
						IBV_QP_MAX_DEST_RD_ATOMIC,
					&init)) &&
		    HOLDS(attr.timeout == 11) && HOLDS(attr.retry_cnt == 2) &&
		    HOLDS(attr.rnr_retry == task->a) && HOLDS(attr.min_rnr_timer == task->b) &&
		    HOLDS(attr.max_rd_atomic == 4) && HOLDS(attr.max_dest_rd_atomic == 4);

	return good ? 0 : -1;
}

/*
 * Both sides use the client's retry count, and each uses the peer's rnr_retry: InfiniBand
 * Architecture Specification, volume 1, 12.7.
 */
static void test_path_settings(void **unused)
{
	const struct rdma_context ends[] = {
		{.settings = {.ack_timeout = 11,
			      .retry_count = 4,
			      .rnr_retry = 5,
			      .min_rnr_timer = 13,
			      .outstanding_reads = 4}},
		{.settings = {.ack_timeout = 11,
			      .retry_count = 2,
			      .rnr_retry = 1,
			      .min_rnr_timer = 9,
			      .outstanding_reads = 4}},
	};
	struct agent *server = agent_start(&ends[0]);
	struct agent *client = agent_start(&ends[1]);

	agents_connect(server, client);
	agent_must(server, (struct task){.run = run_check_path, .a = 1, .b = 13});
	agent_must(client, (struct task){.run = run_check_path, .a = 5, .b = 9});
	agents_talk(server, client);
	agents_stop(server, client);
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
			struct agent *server = agent_start(&settings);
			struct agent *client = agent_start(&settings);
			struct task check = {.run = run_check_fields,
					     .a = 1,
					     .b = size ? size : 4096,
					     .c = mode};

			agents_connect(server, client);
			agent_must(server, check);
			check.a = 0;
			agent_must(client, check);
			agent_must(client, task_close());
			check.run = run_check_empty;
			assert_int_equal(agent_must(client, check).value, 1);
			agent_stop(client);
			agent_stop(server);
		}
	}
}

static void test_unknown_completion_mode(void **unused)
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

static int run_huge_pages(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	/* The kernel reports the page size of the mapping that holds the buffer. */
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
	struct agent *server = agent_start(&settings);
	struct agent *client = agent_start(&plain);

	agent_must_fail(server, task_setup_client(device_host(), 1, NULL),
			"need 2 huge pages of 2048 KiB, 0 free; try 'sysctl vm.nr_hugepages=2'");
	assert_int_equal(shell("echo 2 >" NR_HUGEPAGES), 0);
	agents_connect(server, client);
	assert_int_equal(agent_must(server, (struct task){.run = run_huge_pages}).value, 2048);
	assert_int_equal(agent_must(client, (struct task){.run = run_huge_pages}).value, 4);
	agent_must(client, task_fill(1, 0, 3 << 20));
	agent_must(client, task_write(0, 0, 3 << 20));
	agent_must(server, task_compare(1, 0, 3 << 20, 0));
	agents_stop(server, client);
}

static unsigned long huge_pages_before;

static int remove_huge_pages(void **unused)
{
	FILE *file = fopen(NR_HUGEPAGES, "re");
	char line[32];

	if (!file || !fgets(line, sizeof(line), file))
		return -1;
	fclose(file);
	huge_pages_before = strtoul(line, NULL, 10);
	return shell("echo 0 >" NR_HUGEPAGES);
}

static int restore_huge_pages(void **state)
{
	agents_end(state);
	return shell("echo %lu >" NR_HUGEPAGES, huge_pages_before);
}

/* One listener serves client after client; those that vanish are dropped for the next one. */
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
			agent_must_fail(server, task_recv(), "the peer closed the connection");
			agent_must_fail(server, task_send(1), "the peer closed the connection");
		} else {
			agent_stop(client);
		}
		/* Later clients are compared with the first one that vanished. */
		if (i == 1) {
			counted = count_at_rest(server);
			before = resources_count();
		} else if (i > 1 && i % 2) {
			assert_count(server, counted);
			assert_resources(before);
		}
	}
	agent_stop(server);
}

static void test_requested_port(void **unused)
{
	struct agent *agents[2] = {agent_start(NULL), agent_start(NULL)};
	uint16_t port = agent_must(agents[0], task_setup_server(0, NULL)).port;

	agent_must(agents[0], task_close());
	/* A server that requests this port by number gets it. */
	assert_int_equal(agent_must(agents[0], task_setup_server(port, NULL)).port, port);
	assert_int_not_equal(agent_must(agents[1], task_setup_server(0, NULL)).port, port);
	agent_stop(agents[0]);
	agent_stop(agents[1]);
}

static void *accept_in_thread(void *argument)
{
	return rdma_wait_for_client(argument) ? argument : NULL;
}

/* Client and server in one process, and then a second pair. */
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
	/* Closing one pair does not affect the other. */
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

static const struct CMUnitTest tests[] = {
	ALONE(test_calls_before_connecting),
	ALONE(test_client_cannot_listen),
	ALONE(test_named_devices),
	ALONE(test_fields),
	ALONE(test_path_settings),
	ALONE(test_unknown_completion_mode),
	cmocka_unit_test_setup_teardown(test_huge_pages, remove_huge_pages, restore_huge_pages),
	ALONE(test_many_clients),
	ALONE(test_requested_port),
	ALONE(test_two_contexts_in_one_process),
};

const struct rows rows_contexts = ROWS(tests);
