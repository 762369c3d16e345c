/* SPDX-License-Identifier: MIT */
/* What goes wrong between two ends: a sentence for each, in time, and nothing left. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/context.h"
#include "core/test/agent.h"

#define CLOSED "the other end closed the connection, or its process ended"
#define ROUNDS 5

/* Steps of a looping agent, seen by the test process. */
static atomic_size_t *progress;

static int share_progress(void **unused)
{
	progress = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return progress == MAP_FAILED;
}

/* Until both together have done so many. */
static void await_progress(struct agent *one, struct agent *other, size_t steps)
{
	uint64_t deadline = clock_deadline(PATIENCE_MS);

	while (atomic_load(progress) < steps && clock_left_ms(deadline) && !agent_has_ended(one) &&
	       !agent_has_ended(other))
		usleep(100);
	if (agent_has_ended(one))
		fail_msg("it ended: %s", agent_end(one).reason);
	if (agent_has_ended(other))
		fail_msg("the other one ended: %s", agent_end(other).reason);
	assert_true(atomic_load(progress) >= steps);
}

/* The place at which an agent kills itself: behind that call of librdmacm. */
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

/* These stand in front of librdmacm's: a program's own definitions come first. */
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

enum looping {
	LOOPING_NOT,
	LOOPING_RECV,
	LOOPING_SEND,
	LOOPING_WRITE,
	LOOPING_READ,
};

/* Goes on until it fails. */
static int run_loop(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	int result = 0;

	while (!result) {
		switch ((enum looping)task->a) {
		case LOOPING_NOT:
			return 0;
		case LOOPING_SEND:
			result = rdma_send(ctx, 64);
			break;
		case LOOPING_RECV:
			result = rdma_recv(ctx, NULL);
			break;
		case LOOPING_WRITE:
			result = rdma_write(ctx, 0, 0, 1000);
			break;
		case LOOPING_READ:
			result = rdma_read(ctx, 0, 0, 1000);
			break;
		}
		atomic_fetch_add(progress, 1);
	}
	return result;
}

static struct task task_loop(enum looping looping)
{
	return (struct task){.run = run_loop, .a = looping};
}

/* A connected client of a server that has listened for long. */
static struct agent *next_client(struct agent *server, uint16_t port, int cq_notify)
{
	const struct rdma_context settings = {.cq_notify = cq_notify};
	struct agent *client = agent_start(&settings);
	struct outcome outcome;

	agent_must(client, task_setup_client(device_host(), port, NULL));
	agent_begin(client, task_connect());
	/* The one before it may have left a connection that never came to be. */
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

/* The server is alive, and as it was. */
static void serve_another(struct agent *server, uint16_t port)
{
	struct agent *client = next_client(server, port, RDMA_POLL);

	agents_talk(server, client);
	agent_stop(client);
	agent_must_fail(server, task_recv(), CLOSED);
}

/* How one end works, and the other one dies. */
struct death {
	int cq_notify;
	enum looping survivor;
	enum looping victim;
	bool asleep;      /* both of them, by then */
	enum place place; /* of the victim's rdma_close, where it dies */
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

/* Kills the one, and returns once the other has said why it ended. */
static void kill_one(const struct death *death, struct agent *survivor, struct agent *victim)
{
	struct outcome outcome;
	uint64_t killed_ns;

	atomic_store(progress, 0);
	agent_begin(survivor, task_loop(death->survivor));
	if (death->victim)
		agent_begin(victim, task_loop(death->victim));
	if (makes_progress(death))
		await_progress(survivor, victim, 50);
	if (death->asleep) {
		agent_await_sleep(survivor);
		agent_await_sleep(victim);
	}
	killed_ns = clock_now_ns();
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
	assert_true(clock_now_ns() - killed_ns < FAILURE_MS * NS_PER_MS);
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
	counted = agent_must(server, task_count()).value;
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

	/* The first one, which closes in peace, is the measure. */
	for (int i = 0; i <= ROUNDS; i++) {
		struct agent *server = agent_start(&settings);

		agents_connect(server, client);
		if (i)
			kill_one(death, client, server);
		agent_must(client, task_close());
		if (!i) {
			agent_stop(server);
			before = resources_count();
			counted = agent_must(client, task_count()).value;
		}
		assert_count(client, counted);
	}
	assert_resources(before);
	agent_stop(client);
}

/* Nothing of such a client reaches the server but, at most, a request. */
static void test_client_dies_before_it_is_connected(void **unused)
{
	static const enum place places[] = {RESOLVE_ADDR, RESOLVE_ROUTE, CONNECT};
	struct agent *server = agent_start(NULL);
	uint16_t port = agent_must(server, task_setup_server(0, NULL)).port;
	struct resources before;
	size_t counted;

	serve_another(server, port);
	before = resources_count();
	counted = agent_must(server, task_count()).value;
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

static void test_server_dies_before_it_has_connected(void **unused)
{
	static const struct {
		enum place place;
		const char *words;
	} rows[] = {
		{NOWHERE, "nothing listens there"},
		{MIGRATE, "port "                },
		{ACCEPT,  "port "                },
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
			/* It was quick enough to see it established. */
			outcome = agent_do(client, task_recv());
			assert_failed(&outcome, CLOSED);
		} else {
			assert_failed(&outcome, rows[i % ARRAY_LENGTH(rows)].words);
		}
		agent_must(client, task_close());
		if (!i) {
			before = resources_count();
			counted = agent_must(client, task_count()).value;
		}
		assert_count(client, counted);
	}
	assert_resources(before);
	agent_stop(client);
}

/* Ends of a connection that are not ours. */
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

/* Queues for it, so that it can connect. */
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

/* Connects with a greeting of b bytes, which are in device. *value: it was accepted. */
static int run_raw_connect(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	struct rdma_conn_param param = {.private_data = task->device,
					.private_data_len = (uint8_t)task->b};
	struct sockaddr_in address;
	struct rdma_cm_event *event;

	device_sockaddr(&address, task->host, (uint16_t)task->a);
	raw_channel = rdma_create_event_channel();
	if (!raw_channel || rdma_create_id(raw_channel, &raw_id, NULL, RDMA_PS_TCP) ||
	    REAL(rdma_resolve_addr)(raw_id, NULL, (struct sockaddr *)&address, 2000) ||
	    !raw_event(RDMA_CM_EVENT_ADDR_RESOLVED) || REAL(rdma_resolve_route)(raw_id, 2000) ||
	    !raw_event(RDMA_CM_EVENT_ROUTE_RESOLVED) || raw_queues(raw_id) ||
	    REAL(rdma_connect)(raw_id, &param) || rdma_get_cm_event(raw_channel, &event))
		return -1;
	*value = event->event == RDMA_CM_EVENT_ESTABLISHED;
	/* A refusal: magic, version and length, then the text. */
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

/* Of another version, of another program, cut short, and none. */
static const struct greeting {
	uint8_t bytes[40];
	size_t length;
	const char *words;
} greetings[] = {
	{{'V', 'B', 'M', 'K', 0, 2, 0, 32},   32, "speaks version 2 of the connection, we speak 1"},
	{{'V', 'B', 'M', 'K', 0, 1, 0, 40},   40, "greeting has a wrong length"                   },
	{{'S', 'S', 'H', '-', '2', '.', '0'}, 7,  "is not verbmark"                               },
	{{0},				 0,  "is not verbmark"                               },
};

static void test_clients_of_another_kind(void **unused)
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
	/* It has waited all the while, and serves who is welcome. */
	{
		struct agent *client = agent_start(NULL);
		struct outcome outcome;

		agent_must(client, task_setup_client(device_host(), port, NULL));
		agent_must(client, task_connect());
		outcome = agent_end(server);
		assert_succeeded(&outcome);
		agents_talk(server, client);
		agent_stop(client);
	}
	agent_stop(server);
}

static void test_servers_of_another_kind(void **unused)
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

/* rping, which is everywhere, against our listener and as one. */
static void test_rping_connects_to_us(void **unused)
{
	struct agent *server = agent_start(NULL);
	struct agent *client = agent_start(NULL);
	uint16_t port = agent_must(server, task_setup_server(0, NULL)).port;
	struct outcome outcome;

	agent_begin(server, task_wait_for_client());
	for (int i = 0; i < 2; i++) {
		int status = shell("timeout 20 rping -c -a %s -p %u -C 1 >&2", device_host(), port);

		assert_int_not_equal(status, 0);
		assert_int_not_equal(status, 124);
		assert_int_not_equal(status, 127);
	}
	agent_must(client, task_setup_client(device_host(), port, NULL));
	agent_must(client, task_connect());
	outcome = agent_end(server);
	assert_succeeded(&outcome);
	agents_talk(server, client);
	agent_stop(client);
	agent_stop(server);
}

static void test_we_connect_to_rping(void **unused)
{
	const uint16_t port = 7174;
	uint64_t deadline = clock_deadline(PATIENCE_MS);
	struct agent *client = agent_start(NULL);
	struct outcome outcome;

	assert_int_equal(shell("timeout 60 rping -s -a %s -p %u >&2 &", device_host(), port), 0);
	do {
		agent_must(client, task_close());
		agent_must(client, task_setup_client(device_host(), port, NULL));
		outcome = agent_do(client, task_connect());
	} while (strstr(outcome.reason, "nothing listens") && clock_left_ms(deadline));
	assert_failed(&outcome, "the other end is not verbmark");
	agent_stop(client);
}

static void test_a_listener_that_does_not_answer(void **unused)
{
	struct resources before = resources_count();
	struct agent *stranger = agent_start(NULL);
	struct agent *client = agent_start(NULL);
	uint16_t port = (uint16_t)agent_must(stranger, raw_task(run_raw_listen)).value;
	size_t counted;

	agent_must(client, task_setup_client(device_host(), port, NULL));
	agent_must(client, task_close());
	counted = agent_must(client, task_count()).value;
	agent_must(client, task_setup_client(device_host(), port, NULL));
	agent_must_fail(client, task_connect(), "no answer within 5000 ms");
	/* It is told apart from a context that was never set up, and holds no resources. */
	agent_must_fail(client, task_connect(), "nothing to connect: rdma_setup_client");
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

/* Who waits in vain can be told to stop by another thread. */
static void test_abort_of_a_connect(void **unused)
{
	struct agent *stranger = agent_start(NULL);
	struct agent *client = agent_start(NULL);
	uint16_t port = (uint16_t)agent_must(stranger, raw_task(run_raw_listen)).value;
	struct outcome outcome;

	atomic_store(progress, 0);
	agent_must(client, task_setup_client(device_host(), port, NULL));
	agent_begin(client, (struct task){.run = run_aborted_connect});
	await_progress(client, stranger, 1);
	agent_await_sleep(client);
	atomic_fetch_add(progress, 1);
	outcome = agent_end(client);
	assert_failed(&outcome, "told to stop");
	assert_int_equal(outcome.code, -ECANCELED);
	agent_stop(client);
	agent_kill(stranger);
}

static void test_wrong_addresses(void **unused)
{
	static const struct {
		const char *host;
		const char *words;
	} rows[] = {
		{"127.0.0.1",            "127.0.0.1: no RDMA device leads to a loopback address"          },
		{"::1",                  "::1: no RDMA device leads to a loopback address"                },
		{"::ffff:127.0.0.1",     "no RDMA device leads to a loopback address"                     },
		{"203.0.113.9",          "203.0.113.9: cannot resolve the address: Network is unreachable"},
		{"2001:db8::9",          "2001:db8::9: cannot resolve the address: Network is unreachable"},
		{"",		     "'' is not a host"					       },
		{"no-such-host.invalid", "cannot resolve 'no-such-host.invalid'"                          },
	};
	struct agent *client = agent_start(NULL);
	struct resources before = resources_count();
	size_t counted;

	agent_must(client, task_setup_client(device_host(), 1, NULL));
	agent_must(client, task_close());
	counted = agent_must(client, task_count()).value;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		agent_must_fail(client, task_setup_client(rows[i].host, 1, NULL), rows[i].words);
		assert_count(client, counted);
	}
	assert_resources(before);
	agent_stop(client);
}

/* An address of the device's own network at which nobody is. */
static void test_no_host_there(void **unused)
{
	struct agent *client = agent_start(NULL);
	struct resources before = resources_count();
	char host[64];

	snprintf(host, sizeof(host), "%.*s.253", (int)(strrchr(device_host(), '.') - device_host()),
		 device_host());
	/* The first use of the libraries takes its time: it is not what is looked at. */
	agent_must(client, task_setup_client(device_host(), 1, NULL));
	agent_must(client, task_close());
	agent_must_fail(client, task_setup_client(host, 1, NULL), "cannot resolve the address");
	agent_stop(client);
	assert_resources(before);
}

static void test_nothing_listens(void **unused)
{
	struct agent *client = agent_start(NULL);
	char words[128];

	agent_must(client, task_setup_client(device_host(), 65000, NULL));
	snprintf(words, sizeof(words), "%s port 65000: nothing listens there", device_host());
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
	counted = agent_must(second, task_count()).value;
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

	snprintf(words, sizeof(words), "no device 'nope0'; there is %s", device_name());
	agent_must_fail(agent, task_setup_server(0, "nope0"), words);
	agent_must_fail(agent, task_setup_client(device_host(), 1, "nope0"), words);
	agent_stop(agent);
}

/* As somebody who is not root. */
static int run_lock_little(struct rdma_context *ctx, const struct task *task, size_t *value)
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
	static const char words[] = "cannot register 1 MiB: memlock is 64 KiB; ulimit -l unlimited";
	struct resources before = resources_count();
	struct agent *small = agent_start(&settings);
	struct outcome outcome;
	uint16_t port;

	agent_must(small, (struct task){.run = run_lock_little, .a = 65536});
	agent_must_fail(small, task_setup_client(device_host(), 1, NULL), words);
	assert_resources(before);

	/* A server tells its client why. */
	agent_must(server, (struct task){.run = run_lock_little, .a = 65536});
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

/* What the device allows, in value: the field at a of its attributes, or of its port's. */
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
	 "send queue depth 4000000 exceeds the device's limit %zu",				     offsetof(struct ibv_device_attr,									      max_qp_wr),
	 false},
	{{.recv_depth = 4000000},
	 "receive queue depth 4000000 exceeds the device's limit %zu",								     offsetof(struct ibv_device_attr,																		max_qp_wr),
	 false},
	{{.max_sge = 5000},
	 "number of scatter-gather entries 5000 exceeds the device's limit %zu",										       offsetof(struct ibv_device_attr,																						   max_sge),
	 false},
	{{.outstanding_reads = 255},
	 "number of outstanding reads 255 exceeds the device's limit %zu",											 offsetof(struct ibv_device_attr,																								     max_qp_rd_atom),
	 false},
	{{.ack_timeout = 32},                            "acknowledgement timeout 32 exceeds the device's limit 31",0,																								       false},
	{{.retry_count = 8},"retry count 8 exceeds the device's limit 7",                                                 0,false},
	{{.rnr_retry = 8},					  "RNR retry count 8 exceeds the device's limit 7",                         0,																					       false															 },
	{{.min_rnr_timer = 32},"RNR timer 32 exceeds the device's limit 31",0,false},
	{{.max_message = 1UL << 40},
	 "message size 1099511627776 exceeds the device's limit %zu",												     offsetof(struct ibv_port_attr,																																					   max_msg_sz),
	 true},
 /* No attribute tells: rxe's is 512. */
	{{.max_inline = 100000}, "inline size 100000 exceeds the device's limit 512",0,false},
};

static void test_limits(void **unused)
{
	struct agent *witness = agent_start(NULL);

	for (size_t i = 0; i < ARRAY_LENGTH(excesses); i++) {
		const struct excess *excess = &excesses[i];
		const struct rdma_context settings = {.settings = excess->settings};
		struct agent *client = agent_start(&settings);
		struct agent *server = agent_start(&settings);
		struct agent *plain = agent_start(NULL);
		const struct task query = {
			.run = run_query, .a = excess->field, .b = excess->of_port};
		size_t limit = agent_must(witness, query).value;
		struct outcome outcome;
		char words[128];
		uint16_t port;

		snprintf(words, sizeof(words), "%s", excess->words);
		if (strstr(words, "%zu"))
			snprintf(strstr(words, "%zu"), 24, "%zu", limit);
		agent_must_fail(client, task_setup_client(device_host(), 1, NULL), words);

		/* A server finds out with its first client, and tells it. */
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
	agent_stop(witness);
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
				"send: operation: RNR retry counter exceeded: the other end had no "
				"receive posted in time");
		/* For good: a queue pair does not recover. */
		agent_must_fail(client, task_write(0, 0, 1), "RNR retry counter exceeded");
		agent_stop(client);
		agent_stop(server);
	}
}

/* For ever, by default: the operation's own deadline ends it. */
static void test_nobody_receives(void **unused)
{
	struct agent *server = agent_start(NULL);
	struct agent *client = agent_start(NULL);

	agents_connect(server, client);
	agent_must(client, task_send(10));
	agent_must_fail(client, task_send(10),
			"send: no completion within 5000 ms; does the other end receive?");
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
			"remote access error: address, length or rkey is not the other end's");
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
		"receive: Work Request Flushed Error: the connection ended before it was done");
	agent_stop(client);
	agent_must_fail(server, task_recv(), CLOSED);
	agent_stop(server);
}

/* More completions than their queue holds, since nobody takes them. */
static int run_overrun(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	uint64_t deadline = clock_deadline(5000);
	struct post_work work = {
		.id = CONTEXT_OPERATION, .remote = ctx->remote.address, .rkey = ctx->remote.rkey};

	while (!alarm_raised(context_alarm(ctx)) && clock_left_ms(deadline)) {
		/* A full send queue refuses, until an acknowledgement has come. */
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

static void connect_spare(struct agent *server, struct agent *client)
{
	shell_until("rdma link show vmspare/1 | grep -q 'state ACTIVE'");
	agents_connect_to(server, client, SPARE_HOST);
}

static void test_device_removal(void **state)
{
	const struct death *death = *state;
	const struct rdma_context settings = {.cq_notify = death->cq_notify};
	struct agent *server = agent_start(&settings);
	struct agent *client = agent_start(&settings);
	struct outcome outcomes[2];
	uint64_t removed_ns;
	bool seen = false;

	connect_spare(server, client);
	atomic_store(progress, 0);
	agent_begin(server, task_loop(LOOPING_RECV));
	agent_begin(client, task_loop(death->survivor));
	if (makes_progress(death))
		await_progress(client, server, 50);
	removed_ns = clock_now_ns();
	/* It returns only when nobody holds the device any more. */
	assert_int_equal(shell("rdma link delete vmspare >&2 &"), 0);
	/* Of two ends on one device, one can see the other's end first. */
	outcomes[0] = agent_end(server);
	outcomes[1] = agent_end(client);
	for (int i = 0; i < 2; i++) {
		bool removed = strstr(outcomes[i].reason, "the RDMA device was removed");

		assert_int_equal(outcomes[i].result, -1);
		if (!removed)
			assert_contains(outcomes[i].reason, CLOSED);
		seen |= removed;
	}
	assert_true(seen);
	assert_true(clock_now_ns() - removed_ns < FAILURE_MS * NS_PER_MS);
	agent_must(client, task_close());
	agent_must(server, task_close());
	agent_stop(client);
	agent_stop(server);
	shell_until("! rdma link show | grep -q vmspare/");
}

static void test_removal_of_a_listeners_device(void **unused)
{
	struct agent *server = agent_start(NULL);
	struct outcome outcome;

	shell_until("rdma link show vmspare/1 | grep -q 'state ACTIVE'");
	agent_must(server, task_setup_server(0, "vmspare"));
	agent_begin(server, task_wait_for_client());
	agent_await_sleep(server);
	assert_int_equal(shell("rdma link delete vmspare >&2 &"), 0);
	outcome = agent_end(server);
	assert_int_equal(outcome.result, -1);
	assert_contains(outcome.reason, "the RDMA device was removed");
	agent_stop(server);
	shell_until("! rdma link show | grep -q vmspare/");
}

static void test_port_goes_down(void **state)
{
	const struct death *death = *state;
	/* As it is by default, so that no acknowledgement is missed soon enough. */
	const struct rdma_context settings = {.cq_notify = death->cq_notify,
					      .settings = {.ack_timeout = 14}};
	struct agent *server = agent_start(&settings);
	struct agent *client = agent_start(&settings);
	struct outcome outcome;
	uint64_t down_ns;

	connect_spare(server, client);
	atomic_store(progress, 0);
	agent_begin(client, task_loop(death->survivor));
	if (makes_progress(death))
		await_progress(client, server, 50);
	down_ns = clock_now_ns();
	assert_int_equal(shell("ip link set vmspare0 down"), 0);
	outcome = agent_end(client);
	assert_int_equal(outcome.result, -1);
	assert_contains(outcome.reason, "the port of the device went down");
	assert_true(clock_now_ns() - down_ns < FAILURE_MS * NS_PER_MS);
	agent_must(client, task_close());
	agent_must(server, task_close());
	agent_stop(client);
	agent_stop(server);
}

/* The last one: it takes away the device that all others use, in a VM. */
static void test_no_device_at_all(void **unused)
{
	struct agent *agent = agent_start(NULL);
	const char *accelerator = getenv("SOFTROCE_ACCEL");
	struct task setup_client = task_setup_client(device_host(), 1, NULL);

	if (!accelerator || !strcmp(accelerator, "native"))
		return;
	assert_int_equal(shell("rdma link delete %s", device_name()), 0);
	agent_must_fail(agent, task_setup_server(0, NULL), "no RDMA device; modprobe rdma_rxe");
	agent_must_fail(agent, task_setup_server(0, "rxe0"), "no RDMA device; modprobe rdma_rxe");
	agent_must_fail(agent, setup_client, "no RDMA device; modprobe rdma_rxe");
	agent_stop(agent);
}

static const struct death poll_recv = {.survivor = LOOPING_RECV};
static const struct death event_recv = {.cq_notify = RDMA_EVENT, .survivor = LOOPING_RECV};
static const struct death poll_write = {.survivor = LOOPING_WRITE};
static const struct death event_read = {.cq_notify = RDMA_EVENT, .survivor = LOOPING_READ};

#define ALONE(test) cmocka_unit_test_teardown(test, agents_end)
#define WITH(test, how)                                                                   \
	{                                                                                 \
		.name = #test " " #how, .test_func = (test), .teardown_func = agents_end, \
		.initial_state = (void *)(uintptr_t) & (how)                              \
	}
#define BOTH(how) WITH(test_client_dies, how), WITH(test_server_dies, how)
#define SPARE(test, how)                                                                    \
	{                                                                                   \
		.name = #test " " #how, .test_func = (test), .setup_func = spare_make,      \
		.teardown_func = spare_remove, .initial_state = (void *)(uintptr_t) & (how) \
	}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
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
		ALONE(test_server_dies_before_it_has_connected),
		ALONE(test_clients_of_another_kind),
		ALONE(test_servers_of_another_kind),
		ALONE(test_rping_connects_to_us),
		ALONE(test_we_connect_to_rping),
		ALONE(test_a_listener_that_does_not_answer),
		ALONE(test_abort_of_a_connect),
		ALONE(test_wrong_addresses),
		ALONE(test_no_host_there),
		ALONE(test_nothing_listens),
		ALONE(test_port_in_use),
		ALONE(test_unknown_device),
		ALONE(test_memlock),
		ALONE(test_limits),
		ALONE(test_no_receive_in_time),
		ALONE(test_nobody_receives),
		ALONE(test_remote_access_errors),
		ALONE(test_flush),
		ALONE(test_completion_queue_overrun),
		SPARE(test_device_removal, poll_recv),
		SPARE(test_device_removal, event_recv),
		SPARE(test_device_removal, poll_write),
		SPARE(test_device_removal, event_read),
		SPARE(test_removal_of_a_listeners_device, poll_recv),
		SPARE(test_port_goes_down, poll_recv),
		SPARE(test_port_goes_down, event_recv),
		SPARE(test_port_goes_down, poll_write),
		SPARE(test_port_goes_down, event_read),
		ALONE(test_no_device_at_all),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, share_progress, NULL);
}
