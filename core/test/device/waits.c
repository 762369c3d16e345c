/* SPDX-License-Identifier: MIT */
/* Waits that end without a message: aborted by another thread, or timed out. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "core/test/lib/rows.h"

static atomic_bool about_to_wait;

/* Aborts before or during the wait, mostly during it; both must end the wait. */
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

/* Starts a thread that aborts, and waits. */
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
		/* The peer does not receive: the second send is held back. */
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
	const int *mode = *state;
	const struct rdma_context settings = {.cq_notify = *mode};

	for (size_t i = WAITING_RECV; i <= WAITING_SEND; i++) {
		struct agent *server = agent_start(&settings);
		struct agent *client = agent_start(&settings);

		agents_connect(server, client);
		agent_must_fail(client, (struct task){.run = run_aborted, .a = i}, "told to stop");
		agent_must_fail(client, task_write(0, 0, 1), "told to stop");
		agent_must(client, task_close());
		agent_must_fail(server, task_read(0, 0, 1), "the peer closed");
		/* An aborted context can be used again after rdma_close. */
		agent_must(server, task_close());
		agents_connect(server, client);
		agents_talk(server, client);
		agents_stop(server, client);
	}
}

static void test_abort_while_listening(void **unused)
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
	const int *mode = *state;
	const struct rdma_context settings = {.cq_notify = *mode,
					      .settings = {.idle_timeout_ms = 30}};
	struct agent *server = agent_start(&settings);
	struct agent *client;
	struct outcome outcome;

	agent_must(server, task_setup_server(0, NULL));
	outcome = agent_must_fail(server, task_wait_for_client(), "no client within 30 ms");
	assert_int_equal(outcome.code, -ETIMEDOUT);
	assert_true(outcome.elapsed_ns >= 30 * NS_PER_MS);
	agent_must(server, task_close());

	agent_stop(server);
	server = agent_start(NULL);
	client = agent_start(&settings);
	agents_connect(server, client);
	outcome = agent_must_fail(client, task_recv(), "receive: no message within 30 ms");
	assert_int_equal(outcome.code, -ETIMEDOUT);
	assert_true(outcome.elapsed_ns >= 30 * NS_PER_MS);
	/* The connection remains usable. */
	agent_must(server, task_send(12));
	outcome = agent_must(client, task_recv());
	assert_int_equal(outcome.value, 12);
	assert_int_equal(outcome.code, 0);
	agents_stop(server, client);
}

/* A waiting side probes its peer, without interfering with the data. */
static void test_probes_while_waiting(void **state)
{
	const int *mode = *state;
	const struct rdma_context settings = {.cq_notify = *mode,
					      .settings = {.idle_timeout_ms = 2300}};
	struct agent *server = agent_start(NULL);
	struct agent *client = agent_start(&settings);

	agents_connect(server, client);
	agent_must(server, task_fill(8, 0, 4096));
	agent_must_fail(client, task_recv(), "no message within 2300 ms");
	agent_must(server, task_compare(8, 0, 4096, 0));
	agents_talk(server, client);
	agents_stop(server, client);
}

static const int poll_mode = RDMA_POLL;
static const int event_mode = RDMA_EVENT;
static const int adaptive_mode = RDMA_ADAPTIVE;

static const struct CMUnitTest tests[] = {
	WITH(test_abort, poll_mode),
	WITH(test_abort, event_mode),
	WITH(test_abort, adaptive_mode),
	ALONE(test_abort_while_listening),
	WITH(test_idle_timeout, poll_mode),
	WITH(test_idle_timeout, event_mode),
	WITH(test_idle_timeout, adaptive_mode),
	WITH(test_probes_while_waiting, poll_mode),
	WITH(test_probes_while_waiting, event_mode),
};

const struct rows rows_waits = ROWS(tests);
