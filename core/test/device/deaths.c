/* SPDX-License-Identifier: MIT */
/* Client or server dies at any point: the peer reports it in time and continues to work. */
#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include "core/test/lib/progress.h"
#include "core/test/lib/rows.h"

#define ROUNDS 5

/* The call of librdmacm after which an agent kills itself. */
enum place {
	NOWHERE,
	RESOLVE_ADDR,
	RESOLVE_ROUTE,
	CONNECT,
	MIGRATE,
	ACCEPT,
	DISCONNECT,
	DESTROY_QP,
};

static enum place dies_at;

static void pass(enum place place)
{
	if (dies_at == place)
		kill(getpid(), SIGKILL);
}

/* These override librdmacm's functions. */
#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *from, struct sockaddr *to,
		      int timeout_ms)
{
	int result = REAL(rdma_resolve_addr)(id, from, to, timeout_ms);

	pass(RESOLVE_ADDR);
	return result;
}

int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	int result = REAL(rdma_resolve_route)(id, timeout_ms);

	pass(RESOLVE_ROUTE);
	return result;
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	int result = REAL(rdma_connect)(id, param);

	pass(CONNECT);
	return result;
}

int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
	int result = REAL(rdma_migrate_id)(id, channel);

	pass(MIGRATE);
	return result;
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	int result = REAL(rdma_accept)(id, param);

	pass(ACCEPT);
	return result;
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	int result = REAL(rdma_disconnect)(id);

	pass(DISCONNECT);
	return result;
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	REAL(rdma_destroy_qp)(id);
	pass(DESTROY_QP);
}

static int run_die_at(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	dies_at = (enum place)task->a;
	return 0;
}

static struct task task_die_at(enum place place)
{
	return (struct task){.run = run_die_at, .a = place};
}

/* Returns a connected client of a server that is already listening. */
static struct agent *next_client(struct agent *server, uint16_t port, int cq_notify)
{
	const struct rdma_context settings = {.cq_notify = cq_notify};
	struct agent *client = agent_start(&settings);
	struct outcome outcome;

	agent_must(client, task_setup_client(device_host(), port, NULL));
	agent_begin(client, task_connect());
	/* The previous client may have left an incomplete connection. */
	for (int i = 0; i < 3; i++) {
		agent_begin(server, task_wait_for_client());
		outcome = agent_end(server);
		if (!outcome.result)
			break;
		assert_failed(&outcome, "the client did not complete its connection");
	}
	assert_succeeded(&outcome);
	outcome = agent_end(client);
	assert_succeeded(&outcome);
	return client;
}

/* Checks that the server is still working. */
static void serve_another(struct agent *server, uint16_t port)
{
	struct agent *client = next_client(server, port, RDMA_POLL);

	agents_talk(server, client);
	agent_stop(client);
	agent_must_fail(server, task_recv(), CLOSED);
}

/* Operations of the surviving agent and of the one that dies. */
struct death {
	int cq_notify;
	enum looping survivor;
	enum looping victim;
	bool asleep;      /* both sleep when the victim dies */
	enum place place; /* the call in the victim's rdma_close at which it dies */
};

static const struct death before_first_message = {.survivor = LOOPING_RECV};
static const struct death before_first_event = {.cq_notify = RDMA_EVENT, .survivor = LOOPING_RECV};
static const struct death while_sending = {.survivor = LOOPING_RECV, .victim = LOOPING_SEND};
static const struct death while_receiving = {.survivor = LOOPING_SEND, .victim = LOOPING_RECV};
static const struct death while_receiving_events = {
	.cq_notify = RDMA_EVENT, .survivor = LOOPING_SEND, .victim = LOOPING_RECV};
static const struct death while_written_to = {.cq_notify = RDMA_EVENT, .survivor = LOOPING_WRITE};
static const struct death while_read_from = {.survivor = LOOPING_READ};
static const struct death while_writing = {.survivor = LOOPING_RECV, .victim = LOOPING_WRITE};
static const struct death while_reading = {
	.cq_notify = RDMA_ADAPTIVE, .survivor = LOOPING_WRITE, .victim = LOOPING_READ};
static const struct death in_event_wait = {
	.cq_notify = RDMA_EVENT, .survivor = LOOPING_RECV, .victim = LOOPING_RECV, .asleep = true};
static const struct death in_adaptive_wait = {.cq_notify = RDMA_ADAPTIVE,
					      .survivor = LOOPING_RECV,
					      .victim = LOOPING_RECV,
					      .asleep = true};
static const struct death in_closing = {.survivor = LOOPING_RECV, .place = DISCONNECT};
static const struct death late_in_closing = {
	.cq_notify = RDMA_EVENT, .survivor = LOOPING_RECV, .place = DESTROY_QP};

static bool makes_progress(const struct death *death)
{
	return death->victim > LOOPING_RECV || death->survivor > LOOPING_RECV ||
	       (death->victim && !death->asleep);
}

/* Kills the victim and waits until the survivor reports why its operation ended. */
static void kill_one(const struct death *death, struct agent *survivor, struct agent *victim)
{
	struct outcome outcome;

	atomic_store(progress, 0);
	agent_begin(survivor, task_loop(death->survivor));
	if (death->victim)
		agent_begin(victim, task_loop(death->victim));
	if (makes_progress(death))
		progress_await(survivor, victim, 50);
	if (death->asleep) {
		agent_await_sleep(survivor);
		agent_await_sleep(victim);
	}
	if (death->place) {
		agent_must(victim, task_die_at(death->place));
		agent_begin(victim, task_close());
		agent_await_signal(victim, SIGKILL);
	} else {
		agent_kill(victim);
	}
	outcome = agent_end(survivor);
	assert_int_equal(outcome.result, -1);
	assert_contains(outcome.reason, CLOSED);
}

static void test_client_dies(void **state)
{
	const struct death *death = *state;
	const struct rdma_context settings = {.cq_notify = death->cq_notify};
	struct agent *server = agent_start(&settings);
	uint16_t port = agent_must(server, task_setup_server(0, NULL)).port;
	struct resources before;
	size_t counted;

	serve_another(server, port);
	before = resources_count();
	counted = count_at_rest(server);
	for (int i = 0; i < ROUNDS; i++) {
		kill_one(death, server, next_client(server, port, death->cq_notify));
		serve_another(server, port);
		assert_count(server, counted);
	}
	assert_resources(before);
	agent_stop(server);
}

static void test_server_dies(void **state)
{
	const struct death *death = *state;
	const struct rdma_context settings = {.cq_notify = death->cq_notify};
	struct agent *client = agent_start(&settings);
	struct resources before = {0};
	size_t counted = 0;

	/* The first one closes normally and is the reference. */
	for (int i = 0; i <= ROUNDS; i++) {
		struct agent *server = agent_start(&settings);

		agents_connect(server, client);
		if (i)
			kill_one(death, client, server);
		agent_must(client, task_close());
		if (!i) {
			agent_stop(server);
			before = resources_count();
			counted = count_at_rest(client);
		}
		assert_count(client, counted);
	}
	assert_resources(before);
	agent_stop(client);
}

/* The server gets at most a connection request from such a client. */
static void test_client_dies_before_it_is_connected(void **unused)
{
	static const enum place places[] = {RESOLVE_ADDR, RESOLVE_ROUTE, CONNECT};
	struct agent *server = agent_start(NULL);
	uint16_t port = agent_must(server, task_setup_server(0, NULL)).port;
	struct resources before;
	size_t counted;

	serve_another(server, port);
	before = resources_count();
	counted = count_at_rest(server);
	for (size_t i = 0; i < ROUNDS * ARRAY_LENGTH(places); i++) {
		enum place place = places[i % ARRAY_LENGTH(places)];
		struct agent *victim = agent_start(NULL);

		agent_must(victim, task_die_at(place));
		if (place == CONNECT)
			agent_must(victim, task_setup_client(device_host(), port, NULL));
		agent_begin(victim, place == CONNECT
					    ? task_connect()
					    : task_setup_client(device_host(), port, NULL));
		agent_await_signal(victim, SIGKILL);
		serve_another(server, port);
		assert_count(server, counted);
	}
	assert_resources(before);
	agent_stop(server);
}

static void test_server_dies_before_it_is_connected(void **unused)
{
	static const struct {
		enum place place;
		const char *words;
	} rows[] = {
		{NOWHERE, "no server is listening"},
		{MIGRATE, "port "                 },
		{ACCEPT,  "port "                 },
	};
	struct agent *client = agent_start(NULL);
	struct resources before = {0};
	size_t counted = 0;

	for (size_t i = 0; i < ROUNDS * ARRAY_LENGTH(rows); i++) {
		enum place place = rows[i % ARRAY_LENGTH(rows)].place;
		struct agent *server = agent_start(NULL);
		uint16_t port = agent_must(server, task_setup_server(0, NULL)).port;
		struct outcome outcome;

		agent_must(server, task_die_at(place));
		agent_must(client, task_setup_client(device_host(), port, NULL));
		if (place) {
			agent_begin(server, task_wait_for_client());
			agent_begin(client, task_connect());
			agent_await_signal(server, SIGKILL);
		} else {
			agent_kill(server);
			agent_begin(client, task_connect());
		}
		outcome = agent_end(client);
		if (place == ACCEPT && !outcome.result) {
			/* The client had already seen the connection established. */
			outcome = agent_do(client, task_recv());
			assert_failed(&outcome, CLOSED);
		} else {
			assert_failed(&outcome, rows[i % ARRAY_LENGTH(rows)].words);
		}
		agent_must(client, task_close());
		if (!i) {
			before = resources_count();
			counted = count_at_rest(client);
		}
		assert_count(client, counted);
	}
	assert_resources(before);
	agent_stop(client);
}

#define BOTH(how) WITH(test_client_dies, how), WITH(test_server_dies, how)

static const struct CMUnitTest tests[] = {
	BOTH(before_first_message),
	BOTH(before_first_event),
	BOTH(while_sending),
	BOTH(while_receiving),
	BOTH(while_receiving_events),
	BOTH(while_written_to),
	BOTH(while_read_from),
	BOTH(while_writing),
	BOTH(while_reading),
	BOTH(in_event_wait),
	BOTH(in_adaptive_wait),
	BOTH(in_closing),
	BOTH(late_in_closing),
	ALONE(test_client_dies_before_it_is_connected),
	ALONE(test_server_dies_before_it_is_connected),
};

const struct rows rows_deaths = ROWS(tests);
