/* SPDX-License-Identifier: MIT */
/*
 * The other processes of the tests on a device. An agent is forked, owns one
 * context, and carries out tasks one after another, so that a test reads like a
 * script for two ends. The test process itself never touches verbs: what librdmacm
 * keeps open would be shared by every later fork. Whatever goes wrong here fails
 * the test; agents_end, its teardown, ends those that are left.
 */
#ifndef CORE_TEST_LIB_AGENT_H
#define CORE_TEST_LIB_AGENT_H

#include <sys/types.h>

#include "core/base/clock.h"
#include "core/rdma/rdma.h"
#include "core/test/lib/check.h"

/* A task that takes longer hangs. Emulated processors under a sanitizer are slow. */
#define PATIENCE_MS 60000
/* What is said of a peer that is gone. */
#define CLOSED "the peer closed the connection, or its process ended"

struct task {
	/* In the agent. Returns 0 or -1 and a reason, as the operations do. */
	int (*run)(struct rdma_context *ctx, const struct task *task, size_t *value);
	size_t a;
	size_t b;
	size_t c;
	char host[64];
	char device[64];
};

struct outcome {
	int result;
	int code; /* of the context: a negative errno, or 0 */
	uint64_t elapsed_ns;
	size_t value; /* what the task likes to tell */
	uint16_t port;
	struct rdma_message received;
	char reason[sizeof(((struct rdma_context *)0)->reason)];
};

struct agent {
	pid_t pid;
	int line;
};

/* Its context starts as a copy of this one (NULL: zeroed), patient with a slow peer. */
struct agent *agent_start(const struct rdma_context *context);
void agent_begin(struct agent *agent, struct task task);
struct outcome agent_end(struct agent *agent);
struct outcome agent_end_within(struct agent *agent, unsigned int patience_ms);

/* Whether agent_end would return at once. */
bool agent_has_ended(const struct agent *agent);

/* Begins a task and waits for its end. */
struct outcome agent_do(struct agent *agent, struct task task);

/* The same, and it must succeed. */
struct outcome agent_must(struct agent *agent, struct task task);

/* The same, and it must fail with these words in its reason. */
struct outcome agent_must_fail(struct agent *agent, struct task task, const char *words);
void assert_failed(const struct outcome *outcome, const char *words);
void assert_succeeded(const struct outcome *outcome);

/* It closes its context, exits by itself, and leaks nothing. */
void agent_stop(struct agent *agent);
void agent_kill(struct agent *agent);

/* Waits until the agent has ended by that signal. */
void agent_await_signal(struct agent *agent, int signal);

/* Waits until the agent's main thread sleeps in poll(2). */
void agent_await_sleep(const struct agent *agent);

/* A cmocka teardown. */
int agents_end(void **state);

/* Tasks: the specification's functions with their parameters in order. */
struct task task_setup_server(uint16_t port, const char *device);
struct task task_wait_for_client(void);
struct task task_setup_client(const char *host, uint16_t port, const char *device);
struct task task_connect(void);
struct task task_close(void);
struct task task_send(size_t length);
struct task task_recv(void);
struct task task_prepare(void);
struct task task_write(size_t local, size_t remote, size_t length);
struct task task_read(size_t local, size_t remote, size_t length);
struct task task_notify_write(void);
struct task task_notify_read(void);

/* Fills length bytes of the buffer at offset with what a seed makes of each place. */
struct task task_fill(size_t seed, size_t offset, size_t length);
/* Whether they are what fill with that seed, at that offset, left somewhere else. */
struct task task_compare(size_t seed, size_t offset, size_t length, size_t filled_at);

/*
 * Descriptors and threads of the agent, once they stay the same: a thread that was joined
 * leaves /proc a moment later, and so does what the other end has given up.
 */
size_t count_at_rest(struct agent *agent);

/* It comes back to that count. */
void assert_count(struct agent *agent, size_t before);

/* A server that waits for a client gets this one. */
void agents_join(struct agent *server, struct agent *client, const char *host, uint16_t port);

/* Listens, and is connected to by the client, on the device's address. */
void agents_connect(struct agent *server, struct agent *client);
void agents_connect_to(struct agent *server, struct agent *client, const char *host);

/* Proves that both are connected: a message there and back. */
void agents_talk(struct agent *server, struct agent *client);

/* Both close, and end. */
void agents_stop(struct agent *server, struct agent *client);

/* The device of this run and its addresses. */
const char *device_name(void);
const char *device_host(void);
const char *device_host6(void);

/* The RDMA objects of the whole machine, as rdma(8) counts them. */
struct resources {
	unsigned int pd;
	unsigned int cq;
	unsigned int qp;
	unsigned int cm_id;
	unsigned int mr;
	unsigned int srq;
};

struct resources resources_count(void);

/* They come back to what they were, if not at once: the kernel frees in its own time. */
void assert_resources(struct resources before);

#endif
