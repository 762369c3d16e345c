/* SPDX-License-Identifier: MIT */
/* The peer is not verbmark, or does not answer. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <unistd.h>

#include "core/test/lib/progress.h"
#include "core/test/lib/rows.h"
#include "core/test/lib/spare.h"

/* A connection made without our library. */
static struct rdma_event_channel *raw_channel;
static struct rdma_cm_id *raw_id;

static struct rdma_cm_event *raw_event(enum rdma_cm_event_type wanted)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(raw_channel, &event))
		return NULL;
	return event->event == wanted ? event : NULL;
}

static void device_sockaddr(struct sockaddr_in *address, const char *host, uint16_t port)
{
	*address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
	inet_pton(AF_INET, host, &address->sin_addr);
}

static int run_raw_listen(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	struct sockaddr_in address;

	device_sockaddr(&address, task->host, 0);
	raw_channel = rdma_create_event_channel();
	if (!raw_channel || rdma_create_id(raw_channel, &raw_id, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(raw_id, (struct sockaddr *)&address) || rdma_listen(raw_id, 1))
		return -1;
	*value = ntohs(rdma_get_src_port(raw_id));
	return 0;
}

/* Creates queues, so that the id can connect. */
static int raw_queues(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
	};

	attr.send_cq = attr.recv_cq = ibv_create_cq(id->verbs, 2, NULL, NULL, 0);
	return !attr.send_cq || rdma_create_qp(id, NULL, &attr);
}

/* Accepts with a greeting of a bytes, which are in device. */
static int run_raw_accept(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	struct rdma_conn_param param = {.private_data = task->device,
					.private_data_len = (uint8_t)task->a};
	struct rdma_cm_event *event = raw_event(RDMA_CM_EVENT_CONNECT_REQUEST);

	return !event || raw_queues(event->id) || rdma_accept(event->id, &param) ? -1 : 0;
}

/*
 * Connects with a greeting of b bytes, which are in device. Returns whether it was accepted
 * in *value.
 */
static int run_raw_connect(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	struct rdma_conn_param param = {.private_data = task->device,
					.private_data_len = (uint8_t)task->b};
	struct sockaddr_in address;
	struct rdma_cm_event *event;

	device_sockaddr(&address, task->host, (uint16_t)task->a);
	raw_channel = rdma_create_event_channel();
	if (!raw_channel || rdma_create_id(raw_channel, &raw_id, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(raw_id, NULL, (struct sockaddr *)&address, 2000) ||
	    !raw_event(RDMA_CM_EVENT_ADDR_RESOLVED) || rdma_resolve_route(raw_id, 2000) ||
	    !raw_event(RDMA_CM_EVENT_ROUTE_RESOLVED) || raw_queues(raw_id) ||
	    rdma_connect(raw_id, &param) || rdma_get_cm_event(raw_channel, &event))
		return -1;
	*value = event->event == RDMA_CM_EVENT_ESTABLISHED;
	/* A refusal: magic, version and length, followed by the text. */
	snprintf(ctx->reason, sizeof(ctx->reason), "%s",
		 event->event == RDMA_CM_EVENT_REJECTED && event->param.conn.private_data
			 ? (const char *)event->param.conn.private_data + 8
			 : rdma_event_str(event->event));
	return 0;
}

static struct task raw_task(int (*run)(struct rdma_context *, const struct task *, size_t *))
{
	struct task task = {.run = run};

	snprintf(task.host, sizeof(task.host), "%s", device_host());
	return task;
}

/* Greetings of another version, truncated, of another program, and none. */
static const struct greeting {
	uint8_t bytes[40];
	size_t length;
	const char *words;
} greetings[] = {
	{{'V', 'B', 'M', 'K', 0, 2, 0, 32},   32, "uses connection version 2, this side uses 1"},
	{{'V', 'B', 'M', 'K', 0, 1, 0, 40},   40, "greeting has the wrong length"              },
	{{'S', 'S', 'H', '-', '2', '.', '0'}, 7,  "is not verbmark"                            },
	{{0},				 0,  "is not verbmark"                            },
};

static void test_foreign_clients(void **unused)
{
	struct agent *server = agent_start(NULL);
	uint16_t port = agent_must(server, task_setup_server(0, NULL)).port;

	agent_begin(server, task_wait_for_client());
	for (size_t i = 0; i < ARRAY_LENGTH(greetings); i++) {
		struct agent *stranger = agent_start(NULL);
		struct task task = raw_task(run_raw_connect);
		struct outcome outcome;

		task.a = port;
		task.b = greetings[i].length;
		memcpy(task.device, greetings[i].bytes, greetings[i].length);
		outcome = agent_must(stranger, task);
		assert_int_equal(outcome.value, 0);
		assert_contains(outcome.reason, greetings[i].words);
		agent_kill(stranger);
	}
	/* The server has continued to wait, and serves a valid client. */
	{
		struct agent *client = agent_start(NULL);

		agents_join(server, client, device_host(), port);
		agents_talk(server, client);
		agent_stop(client);
	}
	agent_stop(server);
}

static void test_foreign_servers(void **unused)
{
	for (size_t i = 0; i < ARRAY_LENGTH(greetings); i++) {
		struct agent *stranger = agent_start(NULL);
		struct agent *client = agent_start(NULL);
		uint16_t port = (uint16_t)agent_must(stranger, raw_task(run_raw_listen)).value;
		struct task task = raw_task(run_raw_accept);

		task.a = greetings[i].length;
		memcpy(task.device, greetings[i].bytes, greetings[i].length);
		agent_must(client, task_setup_client(device_host(), port, NULL));
		agent_begin(stranger, task);
		agent_must_fail(client, task_connect(), greetings[i].words);
		agent_stop(client);
		agent_kill(stranger);
	}
}

/* rping, a widely available program, as client and as server. */
static void test_rping_connects_to_us(void **unused)
{
	struct agent *server = agent_start(NULL);
	struct agent *client = agent_start(NULL);
	uint16_t port = agent_must(server, task_setup_server(0, NULL)).port;

	agent_begin(server, task_wait_for_client());
	for (int i = 0; i < 2; i++) {
		int status = shell("timeout 20 rping -c -a %s -p %u -C 1 >&2", device_host(), port);

		assert_int_not_equal(status, 0);
		assert_int_not_equal(status, 124);
		assert_int_not_equal(status, 127);
	}
	agents_join(server, client, device_host(), port);
	agents_talk(server, client);
	agent_stop(client);
	agent_stop(server);
}

static void test_we_connect_to_rping(void **unused)
{
	const uint16_t port = 7174;
	uint64_t deadline = clock_deadline(PATIENCE_MS);
	struct resources before = resources_count();
	struct agent *client = agent_start(NULL);
	struct outcome outcome;

	assert_int_equal(shell("timeout 60 rping -s -a %s -p %u >&2 &", device_host(), port), 0);
	do {
		agent_must(client, task_close());
		agent_must(client, task_setup_client(device_host(), port, NULL));
		outcome = agent_do(client, task_connect());
	} while (strstr(outcome.reason, "no server is listening") && clock_left_ms(deadline));
	assert_failed(&outcome, "the peer is not verbmark");
	agent_stop(client);
	/* rping exits on its own: wait for it before the next test counts resources. */
	assert_resources(before);
}

static void test_silent_listener(void **unused)
{
	struct resources before = resources_count();
	struct agent *stranger = agent_start(NULL);
	struct agent *client = agent_start(NULL);
	uint16_t port = (uint16_t)agent_must(stranger, raw_task(run_raw_listen)).value;
	size_t counted;

	agent_must(client, task_setup_client(device_host(), port, NULL));
	agent_must(client, task_close());
	counted = count_at_rest(client);
	agent_must(client, task_setup_client(device_host(), port, NULL));
	agent_must_fail(client, task_connect(), "no answer within 5000 ms");
	/* A failed connect releases its resources; the context must be set up again. */
	agent_must_fail(client, task_connect(),
			"no connection to make; call rdma_setup_client first");
	agent_must(client, task_close());
	assert_count(client, counted);
	agent_kill(stranger);
	assert_resources(before);
	agent_stop(client);
}

static void *abort_asleep(void *argument)
{
	atomic_fetch_add(progress, 1);
	while (atomic_load(progress) < 2)
		usleep(100);
	rdma_abort(argument, "told to stop");
	return NULL;
}

static int run_aborted_connect(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	pthread_t thread;
	int result;

	pthread_create(&thread, NULL, abort_asleep, ctx);
	result = rdma_connect_server(ctx);
	pthread_join(thread, NULL);
	return result;
}

/* Another thread can abort a wait. */
static void test_abort_while_connecting(void **unused)
{
	struct agent *stranger = agent_start(NULL);
	struct agent *client = agent_start(NULL);
	uint16_t port = (uint16_t)agent_must(stranger, raw_task(run_raw_listen)).value;
	struct outcome outcome;

	atomic_store(progress, 0);
	agent_must(client, task_setup_client(device_host(), port, NULL));
	agent_begin(client, (struct task){.run = run_aborted_connect});
	progress_await(client, stranger, 1);
	agent_await_sleep(client);
	atomic_fetch_add(progress, 1);
	outcome = agent_end(client);
	assert_failed(&outcome, "told to stop");
	assert_int_equal(outcome.code, -ECANCELED);
	agent_stop(client);
	agent_kill(stranger);
}

static const struct CMUnitTest tests[] = {
	ALONE(test_foreign_clients),      ALONE(test_foreign_servers),
	ALONE(test_rping_connects_to_us), ALONE(test_we_connect_to_rping),
	ALONE(test_silent_listener),      ALONE(test_abort_while_connecting),
};

const struct rows rows_strangers = ROWS(tests);
