/* SPDX-License-Identifier: MIT */
/*
 * Helper processes of the tests on a device. An agent is forked, owns one context, and runs
 * tasks one after another, so that a test reads like a script for a client and a server.
 * The test process itself never uses verbs: every later fork would share what librdmacm
 * keeps open. Any failure here fails the test; agents_end, its teardown, kills the
 * remaining agents.
 */
#ifndef CORE_TEST_LIB_AGENT_H
#define CORE_TEST_LIB_AGENT_H

#include <sys/types.h>

#include "core/base/clock.h"
#include "core/rdma/rdma.h"
#include "core/test/lib/check.h"

/* A task that takes longer is considered hung. Emulated CPUs under a sanitizer are slow. */
#define PATIENCE_MS 60000
/* The reason for an error after the peer has gone. */
#define CLOSED "the peer closed the connection, or its process ended"

struct task {
	/* Runs in the agent. Returns 0, or -1 and a reason, as the operations do. */
	int (*run)(struct rdma_context *ctx, const struct task *task, size_t *value);
	size_t a;
	size_t b;
	size_t c;
	char host[64];
	char device[64];
};

struct outcome {
	int result;
	int code; /* of the context: a negative errno or 0 */
	uint64_t elapsed_ns;
	size_t value; /* the task's result */
	uint16_t port;
	struct rdma_message received;
	char reason[sizeof(((struct rdma_context *)0)->reason)];
};

struct agent {
	pid_t pid;
	int line;
};

/* Starts an agent whose context is a copy of this one (NULL: zeroed), with a long ACK timeout. */
struct agent *agent_start(const struct rdma_context *context);
void agent_begin(struct agent *agent, struct task task);
struct outcome agent_end(struct agent *agent);
struct outcome agent_end_within(struct agent *agent, unsigned int patience_ms);

/* Returns whether agent_end would return at once. */
bool agent_has_ended(const struct agent *agent);

/* Runs a task and waits for its outcome. */
struct outcome agent_do(struct agent *agent, struct task task);

/* The same, but fails the test if the task fails. */
struct outcome agent_must(struct agent *agent, struct task task);

/* The same, but the task must fail with these words in its reason. */
struct outcome agent_must_fail(struct agent *agent, struct task task, const char *words);
void assert_failed(const struct outcome *outcome, const char *words);
void assert_succeeded(const struct outcome *outcome);

/* Closes the context and waits until the agent exits, without leaks. */
void agent_stop(struct agent *agent);
void agent_kill(struct agent *agent);

/* Waits until the signal has killed the agent. */
void agent_await_signal(struct agent *agent, int signal);

/* Waits until the agent's main thread sleeps in poll(2). */
void agent_await_sleep(const struct agent *agent);

/* A cmocka teardown: kills all remaining agents. */
int agents_end(void **state);

/* Tasks: the functions of the specification, with their parameters in order. */
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

/* Fills length bytes of the buffer at offset with a pattern that depends on seed and place. */
struct task task_fill(size_t seed, size_t offset, size_t length);
/* Checks for the bytes that task_fill with that seed wrote at filled_at. */
struct task task_compare(size_t seed, size_t offset, size_t length, size_t filled_at);

/*
 * Returns the number of descriptors and threads of the agent, once it is stable: joined
 * threads and resources of a closed peer disappear with a delay.
 */
size_t count_at_rest(struct agent *agent);

/* Waits until the count is as before. */
void assert_count(struct agent *agent, size_t before);

/* Connects a client to a server that waits in task_wait_for_client. */
void agents_join(struct agent *server, struct agent *client, const char *host, uint16_t port);

/* Lets the server listen on the device's address, and connects the client. */
void agents_connect(struct agent *server, struct agent *client);
void agents_connect_to(struct agent *server, struct agent *client, const char *host);

/* Checks the connection with a message in each direction. */
void agents_talk(struct agent *server, struct agent *client);

/* Closes both contexts and stops both agents. */
void agents_stop(struct agent *server, struct agent *client);

/* The device under test and its addresses. */
const char *device_name(void);
const char *device_host(void);
const char *device_host6(void);

/* RDMA objects of the whole machine, as counted by rdma(8). */
struct resources {
	unsigned int pd;
	unsigned int cq;
	unsigned int qp;
	unsigned int cm_id;
	unsigned int mr;
	unsigned int srq;
};

struct resources resources_count(void);

/* Waits until the counts are as before: the kernel frees resources with a delay. */
void assert_resources(struct resources before);

#endif
