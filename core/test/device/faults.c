/* SPDX-License-Identifier: MIT */
/*
 * Injects a fault into every call that set-up makes: the n-th, for every n, in client and
 * server. Each fault must report a reason and leak nothing, and the same two processes must
 * be able to connect afterwards.
 */
#include <errno.h>
#include <unistd.h>

#include "core/rdma/context.h"
#include "core/test/lib/fault.h"
#include "core/test/lib/rows.h"
#include "core/verbs/device.h"
#include "core/verbs/verbs.h"

#define CALLS_MAX 200

static const struct fault {
	const char *name;
	enum call call;
	bool only_server;
	bool only_client;
	/* Some of its failures leave a working, if suboptimal, connection. */
	bool bearable;
} faults[] = {
	{"ibv_get_device_list",       GET_DEVICE_LIST,      false, false, false},
	{"ibv_open_device",           OPEN_DEVICE,          false, false, false},
	{"ibv_query_device",          QUERY_DEVICE,         false, false, false},
	{"ibv_query_port",            QUERY_PORT,           false, false, false},
	{"ibv_query_gid_table",       QUERY_GID_TABLE,      false, false, true },
	{"ibv_alloc_pd",              ALLOC_PD,             false, false, false},
	{"ibv_reg_mr",                REG_MR,               false, false, false},
	{"ibv_create_comp_channel",   CREATE_COMP_CHANNEL,  false, false, false},
	{"ibv_create_cq",             CREATE_CQ,            false, false, true },
	{"ibv_req_notify_cq",         REQ_NOTIFY_CQ,        false, false, false},
	{"ibv_create_qp_ex",          CREATE_QP_EX,         false, false, true },
	{"ibv_modify_qp",             MODIFY_QP,            false, false, true },
	{"ibv_post_recv",             POST_RECV,            false, false, false},
	{"rdma_create_event_channel", CREATE_EVENT_CHANNEL, false, false, false},
	{"rdma_create_id",            CREATE_ID,            false, false, false},
	{"rdma_bind_addr",            BIND_ADDR,            true,  false, false},
	{"rdma_listen",               LISTEN,               true,  false, false},
	{"rdma_resolve_addr",         RESOLVE_ADDR,         false, true,  false},
	{"rdma_resolve_route",        RESOLVE_ROUTE,        false, true,  false},
	{"rdma_create_qp_ex",         CM_CREATE_QP_EX,      false, false, false},
	{"rdma_connect",              CONNECT,              false, true,  false},
	{"rdma_accept",               ACCEPT,               true,  false, false},
	{"rdma_get_cm_event",         GET_CM_EVENT,         false, false, true },
	{"rdma_migrate_id",           MIGRATE_ID,           true,  false, false},
	{"rdma_set_option",           SET_OPTION,           false, false, true },
	{"eventfd",                   EVENTFD,              false, false, false},
	{"pthread_create",            PTHREAD_CREATE,       false, false, false},
	{"calloc",		    CALLOC,               false, false, false},
	{"reallocarray",              REALLOCARRAY,         false, false, true },
	{"mmap",		      MMAP,                 false, false, false},
	{"getifaddrs",                GETIFADDRS,           false, false, false},
};

/* Returns whether the task succeeded. If not, it must have reported a reason in time. */
static bool has_succeeded(const struct outcome *outcome)
{
	if (outcome->result)
		assert_failed(outcome, " ");
	return !outcome->result;
}

/*
 * Serves until this client is connected. An earlier client that failed may be served first,
 * even if dead or half connected.
 */
static void serve_at_last(struct agent *server, struct agent *client)
{
	struct outcome served;
	struct outcome connected;

	for (;;) {
		served = agent_end(server);
		if (served.result) {
			assert_failed(&served, "the client did not complete");
		} else {
			agent_begin(server, task_recv());
			while (!agent_has_ended(server) && !agent_has_ended(client))
				usleep(100);
			if (agent_has_ended(client))
				break;
			served = agent_end(server);
			assert_failed(&served, "the peer closed");
		}
		agent_begin(server, task_wait_for_client());
	}
	connected = agent_end(client);
	assert_succeeded(&connected);
	agent_must(client, task_send(10));
	served = agent_end(server);
	assert_succeeded(&served);
}

static bool try_client(struct agent *server, struct agent *client, uint16_t port)
{
	struct outcome outcome =
		agent_do(client, task_setup_client(device_host(), port, device_name()));
	struct outcome served;

	if (!has_succeeded(&outcome))
		return false;
	agent_begin(server, task_wait_for_client());
	outcome = agent_do(client, task_connect());
	if (!has_succeeded(&outcome)) {
		agent_must(client, task_close());
		fault_disarm(client);
		agent_must(client, task_setup_client(device_host(), port, NULL));
		agent_begin(client, task_connect());
		serve_at_last(server, client);
		return false;
	}
	served = agent_end(server);
	assert_succeeded(&served);
	outcome = agent_do(client, task_prepare());
	if (!has_succeeded(&outcome))
		return false;
	agent_begin(server, task_recv());
	outcome = agent_do(client, task_send(100));
	if (!has_succeeded(&outcome)) {
		agent_must(client, task_close());
		served = agent_end(server);
		return false;
	}
	served = agent_end(server);
	assert_succeeded(&served);
	agent_must(server, task_send(100));
	outcome = agent_do(client, task_recv());
	return has_succeeded(&outcome);
}

static bool try_server(struct agent *server, struct agent *client)
{
	struct outcome outcome = agent_do(server, task_setup_server(0, device_name()));
	uint16_t port = outcome.port;
	struct outcome connected;
	bool good;

	if (!has_succeeded(&outcome))
		return false;
	agent_must(client, task_setup_client(device_host(), port, NULL));
	agent_begin(server, task_wait_for_client());
	agent_begin(client, task_connect());
	outcome = agent_end(server);
	good = has_succeeded(&outcome);
	if (!good) {
		/* The server still listens and serves this client or the next one. */
		fault_disarm(server);
		agent_begin(server, task_wait_for_client());
		connected = agent_end(client);
		if (has_succeeded(&connected)) {
			connected = agent_do(client, task_write(0, 0, 1));
			has_succeeded(&connected);
		}
		if (connected.result) {
			agent_must(client, task_close());
			agent_must(client, task_setup_client(device_host(), port, NULL));
			agent_begin(client, task_connect());
			serve_at_last(server, client);
			return false;
		}
		outcome = agent_end(server);
		assert_succeeded(&outcome);
		agents_talk(server, client);
		return false;
	}
	connected = agent_end(client);
	assert_succeeded(&connected);
	agent_begin(client, task_recv());
	outcome = agent_do(server, task_send(100));
	if (!has_succeeded(&outcome)) {
		agent_must(server, task_close());
		agent_end(client);
		return false;
	}
	connected = agent_end(client);
	assert_succeeded(&connected);
	agent_must(client, task_send(100));
	outcome = agent_do(server, task_recv());
	return has_succeeded(&outcome);
}

static const struct rdma_context settings = {.cq_notify = RDMA_EVENT};

/* Connects, exchanges messages and closes. */
static void connect_once(struct agent *server, struct agent *client)
{
	agents_connect(server, client);
	agents_talk(server, client);
	agent_must(client, task_close());
	agent_must(server, task_close());
}

static bool try_one(const struct fault *fault, size_t n, bool at_server, struct agent *ends[2])
{
	struct agent *victim = ends[at_server ? 0 : 1];
	bool good;
	bool was_called;

	if (at_server) {
		fault_arm(victim, fault->call, n);
		good = try_server(ends[0], ends[1]);
	} else {
		uint16_t port = agent_must(ends[0], task_setup_server(0, NULL)).port;

		fault_arm(victim, fault->call, n);
		good = try_client(ends[0], ends[1], port);
	}
	was_called = fault_disarm(victim);
	agent_must(ends[1], task_close());
	agent_must(ends[0], task_close());
	if (was_called && good && !fault->bearable)
		fail_msg("call %zu of %s failed unnoticed", n, fault->name);
	if (!was_called && !good)
		fail_msg("call %zu of %s was not made, and it failed", n, fault->name);
	return was_called;
}

/* The processes have connected before, so their resources are known. */
static void test_faults(void **state)
{
	bool at_server = *state;
	struct agent *ends[2] = {agent_start(&settings), agent_start(&settings)};
	size_t held[2];
	struct resources before;

	connect_once(ends[0], ends[1]);
	agent_must(ends[0], task_setup_server(0, device_name()));
	agent_must(ends[0], task_close());
	for (int i = 0; i < 2; i++)
		held[i] = count_at_rest(ends[i]);
	before = resources_count();
	for (size_t i = 0; i < ARRAY_LENGTH(faults); i++) {
		size_t n = 1;

		if (at_server ? faults[i].only_client : faults[i].only_server)
			continue;
		while (n < CALLS_MAX && try_one(&faults[i], n, at_server, ends))
			n++;
		print_message("# %s: %zu at the %s\n", faults[i].name, n - 1,
			      at_server ? "server" : "client");
		assert_true(n < CALLS_MAX);
		/* At least one call is made: otherwise nothing was tested. */
		assert_true(n > 1 || faults[i].call == OPEN_DEVICE);
		assert_resources(before);
		connect_once(ends[0], ends[1]);
		for (int j = 0; j < 2; j++)
			assert_count(ends[j], held[j]);
	}
	agent_stop(ends[1]);
	agent_stop(ends[0]);
}

/* In a fresh process, where the libraries initialize and fail. */
static void test_faults_in_a_fresh_process(void **state)
{
	/* librdmacm can do without some of its own calls. */
	static const struct fault at_first[] = {
		{"ibv_get_device_list",       GET_DEVICE_LIST,      false, false, false},
		{"ibv_open_device",           OPEN_DEVICE,          false, false, false},
		{"ibv_query_device",          QUERY_DEVICE,         false, false, false},
		{"ibv_query_port",            QUERY_PORT,           false, false, true },
		{"ibv_create_qp_ex",          CREATE_QP_EX,         false, false, true },
		{"rdma_create_event_channel", CREATE_EVENT_CHANNEL, false, false, true },
	};
	bool at_server = *state;
	struct agent *other = agent_start(&settings);

	for (size_t i = 0; i < ARRAY_LENGTH(at_first); i++) {
		bool was_called = true;

		for (size_t n = 1; was_called && n < CALLS_MAX; n++) {
			struct agent *fresh = agent_start(&settings);
			struct agent *ends[2] = {at_server ? fresh : other,
						 at_server ? other : fresh};

			was_called = try_one(&at_first[i], n, at_server, ends);
			connect_once(ends[0], ends[1]);
			agent_stop(fresh);
		}
		assert_false(was_called);
	}
	agent_stop(other);
}

/* Two queue pairs connected to each other, on one endpoint, in one process. */
struct couple {
	struct device_handle device;
	struct endpoint endpoint;
	struct rdma_context contexts[2];
};

static int join_couple(struct couple *couple, enum transport transport, struct error *error)
{
	const struct endpoint_settings on = {
		.numa_node = -1, .cq_depth = 64, .wait = RDMA_EVENT, .srq_depth = 8};
	const struct manual_qp_settings pair = {.transport = transport,
						.gid_index = MANUAL_QP_GID_BEST};
	struct manual_qp_address addresses[2];
	int code = device_open(&couple->device, device_name(), error);

	if (!code)
		code = endpoint_open(&couple->endpoint, couple->device.verbs, &on, error);
	for (int i = 0; i < 2 && !code; i++) {
		couple->contexts[i].settings.own_receives = true;
		code = manual_qp_open(&couple->contexts[i], &couple->endpoint, &pair, error);
		if (!code)
			manual_qp_local(&couple->contexts[i], &addresses[i]);
	}
	for (int i = 0; i < 2 && !code; i++)
		code = manual_qp_connect(&couple->contexts[i], &addresses[1 - i], error);
	return code;
}

/* Sends a message between the queue pairs and takes both completions. */
static int talk_in_couple(struct couple *couple, enum transport transport, struct error *error)
{
	const struct post_queue *queue = context_queue(&couple->contexts[0]);
	struct post_work work = {.n_sges = 1,
				 .sges = {{.addr = couple->endpoint.memory.address,
					   .length = 100,
					   .lkey = couple->endpoint.mr->lkey}}};
	struct ibv_wc wc = {0};
	int code = post_receive_shared(queue, &work);

	manual_qp_aim(&couple->contexts[0], &work);
	work.sges[0].length = 8;
	if (!code)
		code = post_send(queue, &work, POST_SEND, post_choose(queue, &work),
				 IBV_SEND_SIGNALED);
	if (code)
		return error_set_errno(error, -code, "cannot post");
	for (int i = 0; i < 2 && code >= 0 && !wc.status; i++)
		code = completion_wait(&couple->endpoint.completion, 1, &wc, 5 * NS_PER_S, error);
	if (wc.status)
		return verbs_completion_error(error, "couple", &wc);
	return code < 0 ? error_set(error, code, "no completion") : 0;
}

static int run_couple(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	enum transport transport = (enum transport)task->a;
	struct couple couple = {0};
	struct error error = {0};
	int code = join_couple(&couple, transport, &error);
	int closed = 0;

	if (!code)
		code = talk_in_couple(&couple, transport, &error);
	/* Prepare for the next trial on the same endpoint. */
	for (int i = 0; i < 2; i++)
		closed |= rdma_close(&couple.contexts[i]);
	if (!code)
		code = endpoint_reset(&couple.endpoint, &error);
	closed |= endpoint_close(&couple.endpoint);
	device_close(&couple.device);
	if (closed)
		code = error_set(&error, -EBUSY, "not everything was released");
	ctx->code = code;
	snprintf(ctx->reason, sizeof(ctx->reason), "%s", error.text);
	return code ? -1 : 0;
}

static bool try_couple(const struct fault *fault, size_t n, enum transport transport,
		       struct agent *agent)
{
	struct outcome outcome;
	bool was_called;

	fault_arm(agent, fault->call, n);
	outcome = agent_do(agent, (struct task){.run = run_couple, .a = transport});
	was_called = fault_disarm(agent);
	if (was_called && !has_succeeded(&outcome) && strstr(outcome.reason, "released"))
		fail_msg("call %zu of %s: %s", n, fault->name, outcome.reason);
	if (was_called && !outcome.result && !fault->bearable)
		fail_msg("call %zu of %s failed unnoticed", n, fault->name);
	if (!was_called)
		assert_succeeded(&outcome);
	return was_called;
}

/* Manual queue pairs: device, endpoint, queue pairs, a message, and a reset. */
static void test_faults_of_manual_queue_pairs(void **state)
{
	static const struct fault by_hand[] = {
		{"ibv_query_device",          QUERY_DEVICE,         false, false, true },
		{"ibv_query_port",            QUERY_PORT,           false, false, true },
		{"ibv_query_gid_table",       QUERY_GID_TABLE,      false, false, true },
		{"ibv_alloc_pd",              ALLOC_PD,             false, false, false},
		{"ibv_reg_mr",                REG_MR,               false, false, false},
		{"ibv_create_comp_channel",   CREATE_COMP_CHANNEL,  false, false, false},
		{"ibv_create_cq",             CREATE_CQ,            false, false, true },
		{"ibv_req_notify_cq",         REQ_NOTIFY_CQ,        false, false, false},
		{"ibv_create_srq",            CREATE_SRQ,           false, false, false},
		{"ibv_create_qp_ex",          CREATE_QP_EX,         false, false, true },
		{"ibv_modify_qp",             MODIFY_QP,            false, false, false},
		{"ibv_create_ah",             CREATE_AH,            false, false, false},
		{"rdma_get_devices",          GET_CM_DEVICES,       false, false, true },
		{"rdma_create_event_channel", CREATE_EVENT_CHANNEL, false, false, true },
		{"rdma_create_id",            CREATE_ID,            false, false, true },
		{"rdma_bind_addr",            BIND_ADDR,            false, false, true },
		{"eventfd",                   EVENTFD,              false, false, false},
		{"pthread_create",            PTHREAD_CREATE,       false, false, false},
		{"calloc",                    CALLOC,               false, false, true },
		{"mmap",                      MMAP,                 false, false, false},
	};
	const enum transport *transport = *state;
	struct agent *agent = agent_start(NULL);
	const struct task once = {.run = run_couple, .a = *transport};
	struct resources before;
	size_t held;

	agent_must(agent, once);
	held = count_at_rest(agent);
	before = resources_count();
	for (size_t i = 0; i < ARRAY_LENGTH(by_hand); i++) {
		size_t n = 1;

		while (n < CALLS_MAX && try_couple(&by_hand[i], n, *transport, agent))
			n++;
		print_message("# %s: %zu\n", by_hand[i].name, n - 1);
		assert_true(n < CALLS_MAX);
		assert_true(n > 1 || (by_hand[i].call == CREATE_AH && *transport != TRANSPORT_UD));
		assert_resources(before);
		agent_must(agent, once);
		assert_count(agent, held);
	}
	agent_stop(agent);
}

static const enum transport rc = TRANSPORT_RC;
static const enum transport uc = TRANSPORT_UC;
static const enum transport ud = TRANSPORT_UD;

#define ON(transport, test)                                                                        \
	{                                                                                          \
		.name = #test " on " #transport, .test_func = (test), .teardown_func = agents_end, \
		.initial_state = (void *)(uintptr_t) & (transport)                                 \
	}
#define AT(end, test)                                                                            \
	{                                                                                        \
		.name = #test " at the " #end, .test_func = (test), .teardown_func = agents_end, \
		.initial_state = (void *)(uintptr_t)at_##end                                     \
	}

int main(int argc, char **argv)
{
	enum {
		at_client,
		at_server
	};
	const struct CMUnitTest tests[] = {
		AT(server, test_faults),
		AT(client, test_faults),
		AT(server, test_faults_in_a_fresh_process),
		AT(client, test_faults_in_a_fresh_process),
		ON(rc, test_faults_of_manual_queue_pairs),
		ON(uc, test_faults_of_manual_queue_pairs),
		ON(ud, test_faults_of_manual_queue_pairs),
	};
	const struct rows rows = ROWS(tests);

	for (size_t i = 0; i < ARRAY_LENGTH(faults); i++)
		if (faults[i].call != i)
			return 1;
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return rows_run(&rows, 1, NULL);
}
