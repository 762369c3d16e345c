/* SPDX-License-Identifier: MIT */
/* Many contexts on one endpoint: concurrently, over several trials, and when one of them ends. */
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "core/test/lib/rows.h"
#include "core/test/lib/spare.h"
#include "core/test/lib/stand.h"
#include "core/verbs/verbs.h"

/* Number of contexts, and how they connect and wait. */
struct variant {
	unsigned int n;
	enum transport transport;
	enum rdma_wait_mode wait;
	bool by_cm;
	bool is_shared; /* a shared receive queue */
};

static struct stand_agents open_endpoints(const struct variant *variant)
{
	stand_plan(variant->transport, variant->wait, variant->n);
	board->plan.endpoint.srq_depth = variant->is_shared ? STAND_DEPTH * variant->n : 0;
	return stand_endpoints();
}

static void join(const struct variant *variant, struct stand_agents agents)
{
	if (variant->by_cm)
		stand_call(agents, variant->n);
	else
		stand_join(agents, variant->n);
}

/*
 * All messages are in flight before the first one is taken; each arrives on its own queue
 * pair.
 */
static void send_on_all(const struct variant *variant, struct agent *from, struct agent *to)
{
	uint64_t seen = 0;

	for (unsigned int i = 0; i < variant->n; i++) {
		board->order = (struct stand_order){.which = i, .length = TRANSPORT_GRH + 8};
		agent_must(to, task_receives());
	}
	for (unsigned int i = 0; i < variant->n; i++) {
		board->order =
			(struct stand_order){.which = i, .length = 8, .imm = i, .is_inline = true};
		board->order.operation = POST_SEND_IMM;
		agent_must(from, task_post());
	}
	for (unsigned int i = 0; i < variant->n; i++) {
		struct outcome outcome = agent_must(to, task_take());

		assert_int_equal(outcome.received.length, outcome.received.offset);
		seen |= 1UL << outcome.received.length;
	}
	assert_true(seen == (variant->n == 64 ? UINT64_MAX : (1UL << variant->n) - 1));
	agent_must(from, task_nothing());
	agent_must(to, task_nothing());
}

static void test_concurrent_contexts(void **state)
{
	const struct variant *variant = *state;
	struct resources before = resources_count();
	struct stand_agents agents = open_endpoints(variant);
	struct resources endpoints = resources_count();

	join(variant, agents);
	for (int i = 0; i < 3; i++) {
		send_on_all(variant, agents.client, agents.server);
		send_on_all(variant, agents.server, agents.client);
	}
	/* Each context has only a queue pair of its own. */
	if (!variant->by_cm) {
		endpoints.qp += 2 * variant->n;
		assert_resources(endpoints);
	}
	stand_stop(agents);
	assert_resources(before);
}

/* Receives of a shared queue are posted by one context and consumed by all. */
static void test_shared_receives(void **state)
{
	const struct variant *variant = *state;
	struct stand_agents agents = open_endpoints(variant);

	join(variant, agents);
	board->order = (struct stand_order){.list = variant->n, .length = TRANSPORT_GRH + 8};
	agent_must(agents.server, task_receives());
	for (unsigned int i = 0; i < variant->n; i++) {
		struct outcome outcome;

		board->order = (struct stand_order){.which = i, .length = 8};
		board->order.operation = POST_SEND;
		agent_must(agents.client, task_post());
		outcome = agent_must(agents.server, task_take());
		assert_int_equal(outcome.received.length, i);
	}
	stand_stop(agents);
}

/* Posts sends on every context without taking their completions. */
static int run_post_unpolled(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	struct error error = {0};
	int code = 0;

	for (unsigned int i = 0; i < here.n && !code; i++) {
		const struct rdma_context *context = &here.contexts[i];
		const struct post_queue *queue = context_queue(context);
		struct post_work work = {0};

		manual_qp_aim(context, &work);
		for (int j = 0; j < 3 && !code; j++)
			code = post_send(queue, &work, POST_SEND, post_choose(queue, &work),
					 IBV_SEND_SIGNALED);
	}
	return stand_end(ctx, -code, &error);
}

/* Like a benchmark: new queue pairs on the same buffer, with leftovers of the previous trial. */
static void test_trials(void **state)
{
	const struct variant *variant = *state;
	struct stand_agents agents = open_endpoints(variant);
	int trials = variant->n == STAND_MAX ? 3 : 20;
	struct resources before = {0};
	size_t counted[2] = {0};

	for (int i = 0; i < trials; i++) {
		join(variant, agents);
		agent_must(agents.client, task_nothing());
		agent_must(agents.server, task_nothing());
		send_on_all(variant, agents.client, agents.server);
		send_on_all(variant, agents.server, agents.client);
		/* Fill the queue: none of these receives may exist in the next trial. */
		board->order = (struct stand_order){
			.list = variant->is_shared ? board->plan.endpoint.srq_depth : 5,
			.length = TRANSPORT_GRH + 8,
		};
		agent_must(agents.server, task_receives());
		agent_must(agents.client, (struct task){.run = run_post_unpolled});
		agent_must_fail(agents.client, task_reset(), "connections are still open");
		stand_part(agents);
		agent_must(agents.client, task_reset());
		agent_must(agents.server, task_reset());
		if (!i) {
			before = resources_count();
			counted[CLIENT] = count_at_rest(agents.client);
			counted[SERVER] = count_at_rest(agents.server);
		}
		assert_resources(before);
		assert_count(agents.client, counted[CLIENT]);
		assert_count(agents.server, counted[SERVER]);
	}
	stand_stop(agents);
}

static int run_close_one(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	int code = rdma_close(&here.contexts[task->a]);

	usleep(20000); /* let a pending event arrive */
	*value = alarm_raised(&here.endpoint.alarm);
	return code;
}

/* When one connection is closed by its peer, all waits on the endpoint end with the reason. */
static void test_disconnect_ends_all_waits(void **state)
{
	const struct variant *variant = *state;
	struct stand_agents agents = open_endpoints(variant);

	for (unsigned int i = 0; i < variant->n; i++) {
		struct outcome outcome;

		join(variant, agents);
		send_on_all(variant, agents.client, agents.server);
		agent_begin(agents.client, task_wait());
		if (variant->wait == RDMA_EVENT)
			agent_await_sleep(agents.client);
		outcome = agent_must(agents.server, (struct task){.run = run_close_one, .a = i});
		assert_int_equal(outcome.value, 0);
		outcome = agent_end(agents.client);
		assert_failed(&outcome, "the peer closed the connection");
		agent_must_fail(agents.client, task_wait(), "the peer closed the connection");
		stand_part(agents);
		agent_must(agents.client, task_reset());
		agent_must(agents.server, task_reset());
	}
	stand_stop(agents);
}

static void *abort_one(void *argument)
{
	usleep(20000);
	rdma_abort(argument, "told to stop");
	return NULL;
}

static int run_aborted(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	struct error error = {0};
	struct ibv_wc wc;
	pthread_t thread;
	int code;

	pthread_create(&thread, NULL, abort_one, &here.contexts[task->a]);
	code = completion_wait(&here.endpoint.completion, 1, &wc, 10 * NS_PER_S, &error);
	pthread_join(thread, NULL);
	return stand_end(ctx, code, &error);
}

static void test_abort_of_one(void **state)
{
	const struct variant *variant = *state;
	struct stand_agents agents = open_endpoints(variant);

	for (unsigned int i = 0; i < variant->n; i++) {
		join(variant, agents);
		agent_must_fail(agents.client, (struct task){.run = run_aborted, .a = i},
				"told to stop");
		agent_must_fail(agents.client, task_wait(), "told to stop");
		stand_part(agents);
		agent_must(agents.client, task_reset());
		agent_must(agents.server, task_reset());
	}
	join(variant, agents);
	send_on_all(variant, agents.client, agents.server);
	stand_stop(agents);
}

static int run_accept_first(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	int result = rdma_wait_for_client(&here.contexts[0]);

	snprintf(ctx->reason, sizeof(ctx->reason), "%s", here.contexts[0].reason);
	return result;
}

/* One listener on a shared endpoint serves client after client, whether they close or die. */
static void test_listener_is_reused(void **state)
{
	const struct variant *variant = *state;
	struct stand_agents agents = open_endpoints(variant);
	struct resources before = {0};

	agent_must(agents.server, task_listeners(1));
	for (int i = 0; i < 10; i++) {
		struct outcome outcome;

		agent_begin(agents.server, (struct task){.run = run_accept_first});
		agent_must(agents.client, task_callers(1));
		outcome = agent_end(agents.server);
		assert_succeeded(&outcome);
		stand_send(agents.client, agents.server, 0, 100);
		stand_send(agents.server, agents.client, 0, 100);
		if (i % 3) {
			agent_must(agents.client, task_close_contexts());
			agent_must(agents.client, task_reset());
			agent_must_fail(agents.server, task_wait(), "the peer closed");
		} else {
			agent_kill(agents.client);
			agent_must_fail(agents.server, task_wait(), "the peer closed");
			agents.client = agent_start(NULL);
			agent_must(agents.client, task_stand(CLIENT));
		}
		if (i == 1)
			before = resources_count();
		else if (i > 1)
			assert_resources(before);
	}
	stand_stop(agents);
}

static int run_refused(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	struct rdma_context context = {.settings = {.own_receives = true}};
	struct endpoint closed = {0};
	struct error error = {0};
	int code;

	switch (task->a) {
	case 0:
		code = context_use(&context, &closed, &error);
		break;
	case 1:
		context.settings.own_receives = false;
		code = context_use(&context, &here.endpoint, &error);
		break;
	case 2:
		context_use(&context, &here.endpoint, NULL);
		code = context_use(&context, &here.endpoint, &error);
		*value = endpoint_close(&here.endpoint) == -EBUSY;
		rdma_close(&context);
		break;
	case 3:
		code = rdma_send(&here.contexts[0], 1);
		break;
	case 4:
		code = rdma_notify_write(&here.contexts[0]);
		break;
	case 5:
		code = rdma_recv(&here.contexts[0], NULL);
		break;
	case 6:
		code = rdma_connect_server(&here.contexts[0]);
		break;
	default:
		code = rdma_setup_server(&here.contexts[0], 0, NULL);
		break;
	}
	if (task->a > 2)
		error_set(&error, code, "%s", here.contexts[0].reason);
	return stand_end(ctx, code, &error);
}

static void test_refusals(void **unused)
{
	static const char *const words[] = {
		"the endpoint for this context is not open",
		"must post its own receives; set own_receives",
		"set up already; close it first",
		"this context shares its completion queue: its owner must post the work",
		"this context shares its completion queue: its owner must post the work",
		"this context shares its completion queue: its owner must post the work",
		"context has no connection to make; call rdma_setup_client first",
		"set up already; close it first",
	};
	const struct variant variant = {.n = 2};
	struct stand_agents agents = open_endpoints(&variant);

	stand_join(agents, 2);
	for (size_t i = 0; i < ARRAY_LENGTH(words); i++) {
		struct outcome outcome = agent_must_fail(
			agents.client, (struct task){.run = run_refused, .a = i}, words[i]);

		assert_int_equal(outcome.value, i == 2);
	}
	agent_must_fail(agents.client, task_strike(), "cannot close the endpoint");
	/* The refused calls had no effect. */
	send_on_all(&variant, agents.client, agents.server);
	stand_stop(agents);
}

static void test_limits(void **unused)
{
	static const struct {
		struct endpoint_settings settings;
		const char *device;
		const char *words;
	} rows[] = {
		{{.cq_depth = 4000000},
		 NULL,						"completion queue depth 4000000 exceeds the device's"    },
		{{.cq_depth = 10, .srq_depth = 4000000},
		 NULL,						"shared receive queue depth 4000000 exceeds the device's"},
		{{.cq_depth = 10, .buffer_size = 1UL << 60}, NULL,    "no memory for a buffer"                                 },
		{{.cq_depth = 10},                           "nope0", "no device 'nope0'; available: "                         },
	};
	struct resources before = resources_count();
	struct agent *agent = agent_start(NULL);
	size_t counted;

	stand_plan(TRANSPORT_RC, RDMA_EVENT, 1);
	agent_must(agent, task_stand(CLIENT));
	agent_must(agent, task_strike());
	counted = count_at_rest(agent);
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		stand_plan(TRANSPORT_RC, RDMA_EVENT, 1);
		board->plan.endpoint = rows[i].settings;
		if (rows[i].device)
			snprintf(board->plan.device, sizeof(board->plan.device), "%s",
				 rows[i].device);
		agent_must_fail(agent, task_stand(CLIENT), rows[i].words);
		assert_count(agent, counted);
	}
	agent_stop(agent);
	assert_resources(before);
}

/* Sets up a client; the port does not matter. */
static int run_call_nobody(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	struct rdma_context context = {.settings = {.own_receives = true}};
	struct error error = {0};
	int code = context_use(&context, &here.endpoint, &error);

	if (!code) {
		code = rdma_setup_client(&context, task->host, 1, NULL);
		error_set(&error, code, "%s", context.reason);
	}
	*value = here.endpoint.n_contexts;
	return stand_end(ctx, code, &error);
}

/* Opens the device a second time, unknown to rdma_cm. */
static int run_second_opening(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	const struct endpoint_settings settings = {.cq_depth = 10, .numa_node = -1};
	struct ibv_context *verbs = ibv_open_device(here.device.verbs->device);
	struct error error = {0};
	int result;

	endpoint_close(&here.endpoint);
	if (endpoint_open(&here.endpoint, verbs, &settings, &error))
		return stand_end(ctx, error.code, &error);
	result = run_call_nobody(ctx, task, value);
	endpoint_close(&here.endpoint);
	ibv_close_device(verbs);
	return result;
}

static void test_wrong_devices(void **unused)
{
	struct task call = {.run = run_call_nobody};
	struct agent *agent = agent_start(NULL);
	struct outcome outcome;
	char words[128];

	snprintf(call.host, sizeof(call.host), "%s", device_host());
	stand_plan(TRANSPORT_RC, RDMA_POLL, 1);
	snprintf(board->plan.device, sizeof(board->plan.device), SPARE_DEVICE);
	agent_must(agent, task_stand(CLIENT));
	snprintf(words, sizeof(words),
		 "the connection uses device %s, but its endpoint is on device " SPARE_DEVICE,
		 device_name());
	outcome = agent_must_fail(agent, call, words);
	/* A failed set-up releases the endpoint. */
	assert_int_equal(outcome.value, 0);
	agent_must(agent, task_strike());

	stand_plan(TRANSPORT_RC, RDMA_POLL, 1);
	agent_must(agent, task_stand(CLIENT));
	call.run = run_second_opening;
	snprintf(words, sizeof(words), "device %s is open twice", device_name());
	agent_must_fail(agent, call, words);
	agent_must(agent, task_strike());
	agent_stop(agent);
}

/* Produces more completions than the queue can hold, without taking any. */
static int run_overrun(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	uint64_t deadline = clock_deadline(5000);
	struct error error = {0};
	struct ibv_wc wc;
	int got;

	while (!alarm_raised(&here.endpoint.alarm) && clock_left_ms(deadline))
		run_post_unpolled(ctx, task, value);
	do
		got = completion_wait(&here.endpoint.completion, 1, &wc, NS_PER_S, &error);
	while (got > 0);
	return stand_end(ctx, got, &error);
}

static void test_overrun(void **state)
{
	const struct variant *variant = *state;
	struct stand_agents agents;

	stand_plan(variant->transport, variant->wait, variant->n);
	board->plan.endpoint.cq_depth = 4;
	agents = stand_endpoints();
	stand_join(agents, variant->n);
	agent_must_fail(agents.client, (struct task){.run = run_overrun},
			"the completion queue overran");
	stand_part(agents);
	/* The queue is unusable afterwards. */
	agent_must_fail(agents.client, task_reset(), "the completion queue overran");
	agent_must(agents.server, task_reset());
	stand_stop(agents);
}

static struct stand_agents join_spare(const struct variant *variant)
{
	struct stand_agents agents;

	shell_until("rdma link show " SPARE_DEVICE "/1 | grep -q 'state ACTIVE'");
	stand_plan(variant->transport, variant->wait, variant->n);
	snprintf(board->plan.device, sizeof(board->plan.device), SPARE_DEVICE);
	agents = stand_endpoints();
	stand_join(agents, variant->n);
	return agents;
}

static void test_device_removal(void **state)
{
	struct stand_agents agents = join_spare(*state);
	struct outcome outcome;

	agent_begin(agents.client, task_wait());
	agent_begin(agents.server, task_wait());
	/* The command returns only when nobody uses the device any more. */
	assert_int_equal(shell("rdma link delete " SPARE_DEVICE " >&2 &"), 0);
	outcome = agent_end(agents.client);
	assert_failed(&outcome, "the RDMA device was removed");
	outcome = agent_end(agents.server);
	assert_failed(&outcome, "the RDMA device was removed");
	stand_part(agents);
	agent_must_fail(agents.client, task_reset(), "the RDMA device was removed");
	stand_stop(agents);
	shell_until("! rdma link show | grep -q " SPARE_DEVICE "/");
}

static void test_port_goes_down(void **state)
{
	const struct variant *variant = *state;
	struct stand_agents agents = join_spare(variant);
	struct outcome outcome;

	agent_begin(agents.client, task_wait());
	assert_int_equal(shell("ip link set vmspare0 down"), 0);
	outcome = agent_end(agents.client);
	assert_failed(&outcome, "the port of the device went down");
	stand_part(agents);
	agent_must(agents.client, task_reset());
	agent_must(agents.server, task_reset());
	agent_must_fail(agents.client, task_pairs(1), "port 1 of device " SPARE_DEVICE " is ");
	agent_must(agents.client, task_close_contexts());
	assert_int_equal(shell("ip link set vmspare0 up"), 0);
	shell_until("rdma link show " SPARE_DEVICE "/1 | grep -q 'state ACTIVE'");
	stand_join(agents, variant->n);
	send_on_all(variant, agents.client, agents.server);
	stand_stop(agents);
}

static const struct variant four_rc = {4, TRANSPORT_RC, RDMA_EVENT, false, false};
static const struct variant four_uc = {4, TRANSPORT_UC, RDMA_POLL, false, false};
static const struct variant four_ud = {4, TRANSPORT_UD, RDMA_POLL, false, false};
static const struct variant four_by_cm = {4, TRANSPORT_RC, RDMA_POLL, true, false};
static const struct variant four_asleep = {4, TRANSPORT_RC, RDMA_EVENT, true, false};
static const struct variant four_shared = {4, TRANSPORT_RC, RDMA_EVENT, false, true};
static const struct variant four_shared_by_cm = {4, TRANSPORT_RC, RDMA_ADAPTIVE, true, true};
static const struct variant four_shared_ud = {4, TRANSPORT_UD, RDMA_EVENT, false, true};
static const struct variant many_rc = {STAND_MAX, TRANSPORT_RC, RDMA_POLL, false, false};
static const struct variant many_ud = {STAND_MAX, TRANSPORT_UD, RDMA_EVENT, false, false};
static const struct variant many_by_cm = {STAND_MAX, TRANSPORT_RC, RDMA_EVENT, true, false};
static const struct variant many_shared = {STAND_MAX, TRANSPORT_RC, RDMA_EVENT, false, true};
static const struct variant one_by_cm = {1, TRANSPORT_RC, RDMA_EVENT, true, false};
static const struct variant one_shared_by_cm = {1, TRANSPORT_RC, RDMA_POLL, true, true};

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		WITH(test_concurrent_contexts, four_rc),
		WITH(test_concurrent_contexts, four_uc),
		WITH(test_concurrent_contexts, four_ud),
		WITH(test_concurrent_contexts, four_by_cm),
		WITH(test_concurrent_contexts, many_rc),
		WITH(test_concurrent_contexts, many_ud),
		WITH(test_concurrent_contexts, many_by_cm),
		WITH(test_concurrent_contexts, many_shared),
		WITH(test_shared_receives, four_shared),
		WITH(test_shared_receives, four_shared_by_cm),
		WITH(test_shared_receives, four_shared_ud),
		WITH(test_shared_receives, many_shared),
		WITH(test_trials, four_rc),
		WITH(test_trials, four_ud),
		WITH(test_trials, four_shared),
		WITH(test_trials, four_shared_ud),
		WITH(test_trials, four_by_cm),
		WITH(test_trials, four_asleep),
		WITH(test_trials, four_shared_by_cm),
		WITH(test_trials, many_shared),
		WITH(test_trials, many_by_cm),
		WITH(test_disconnect_ends_all_waits, four_by_cm),
		WITH(test_disconnect_ends_all_waits, four_asleep),
		WITH(test_abort_of_one, four_rc),
		WITH(test_abort_of_one, four_ud),
		WITH(test_abort_of_one, four_by_cm),
		WITH(test_listener_is_reused, one_by_cm),
		WITH(test_listener_is_reused, one_shared_by_cm),
		ALONE(test_refusals),
		ALONE(test_limits),
		cmocka_unit_test_setup_teardown(test_wrong_devices, spare_make, spare_remove),
		WITH(test_overrun, four_rc),
		WITH(test_overrun, four_uc),
		SPARE(test_device_removal, four_rc),
		SPARE(test_device_removal, four_ud),
		SPARE(test_port_goes_down, four_rc),
		SPARE(test_port_goes_down, four_uc),
		SPARE(test_port_goes_down, four_ud),
	};
	const struct rows rows = ROWS(tests);

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return rows_run(&rows, 1, stand_share);
}
