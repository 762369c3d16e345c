/* SPDX-License-Identifier: MIT */
#include "core/test/lib/agent.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define AGENTS_MAX 16

static struct agent agents[AGENTS_MAX];

static void carry_out(struct rdma_context *ctx, const struct task *task, struct outcome *outcome)
{
	uint64_t start = clock_now_ns();

	*outcome = (struct outcome){0};
	outcome->result = task->run(ctx, task, &outcome->value);
	outcome->elapsed_ns = clock_now_ns() - start;
	outcome->code = ctx->code;
	outcome->port = ctx->port;
	outcome->received = ctx->received;
	snprintf(outcome->reason, sizeof(outcome->reason), "%s", ctx->reason);
}

static _Noreturn void serve(int line, const struct rdma_context *context)
{
	struct rdma_context ctx = {0};
	struct outcome outcome;
	struct task task;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	if (context)
		ctx = *context;
	/*
	 * 1 s: rxe also gives up without an ACK while it waits for a receive, and a busy machine
	 * may send the ACK late.
	 */
	if (!ctx.settings.ack_timeout)
		ctx.settings.ack_timeout = 18;
	while (recv(line, &task, sizeof(task), 0) == sizeof(task)) {
		carry_out(&ctx, &task, &outcome);
		if (send(line, &outcome, sizeof(outcome), MSG_NOSIGNAL) != sizeof(outcome))
			break;
	}
	rdma_close(&ctx);
	exit(0);
}

static struct agent *find_free(void)
{
	for (size_t i = 0; i < AGENTS_MAX; i++)
		if (!agents[i].pid)
			return &agents[i];
	fail_msg("too many agents");
	return NULL;
}

struct agent *agent_start(const struct rdma_context *context)
{
	struct agent *agent = find_free();
	int lines[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, lines), 0);
	fflush(NULL);
	agent->pid = fork();
	assert_true(agent->pid >= 0);
	if (!agent->pid) {
		close(lines[0]);
		for (size_t i = 0; i < AGENTS_MAX; i++)
			if (agents[i].pid)
				close(agents[i].line);
		serve(lines[1], context);
	}
	close(lines[1]);
	agent->line = lines[0];
	return agent;
}

static bool wait_readable(int fd, unsigned int patience_ms)
{
	struct pollfd readable = {.fd = fd, .events = POLLIN};
	uint64_t deadline = clock_deadline(patience_ms);
	int got;

	do
		got = poll(&readable, 1, clock_left_ms(deadline));
	while (got < 0 && errno == EINTR);
	return got > 0;
}

/* Waits until the agent has exited and frees it. Returns the status of waitpid. */
static int reap(struct agent *agent, unsigned int patience_ms)
{
	int fd = (int)syscall(SYS_pidfd_open, agent->pid, 0);
	bool ended = wait_readable(fd, patience_ms);
	int status = 0;

	close(fd);
	if (!ended) {
		print_error("an agent did not end\n");
		kill(agent->pid, SIGKILL);
	}
	waitpid(agent->pid, &status, 0);
	close(agent->line);
	*agent = (struct agent){0};
	return ended ? status : -1;
}

void agent_begin(struct agent *agent, struct task task)
{
	assert_int_equal(send(agent->line, &task, sizeof(task), MSG_NOSIGNAL), sizeof(task));
}

bool agent_has_ended(const struct agent *agent)
{
	return wait_readable(agent->line, 0);
}

struct outcome agent_end_within(struct agent *agent, unsigned int patience_ms)
{
	struct outcome outcome;

	if (!wait_readable(agent->line, patience_ms))
		fail_msg("a task hangs");
	if (recv(agent->line, &outcome, sizeof(outcome), 0) != sizeof(outcome))
		fail_msg("an agent died, with status %#x", (unsigned int)reap(agent, PATIENCE_MS));
	return outcome;
}

struct outcome agent_end(struct agent *agent)
{
	return agent_end_within(agent, PATIENCE_MS);
}

struct outcome agent_do(struct agent *agent, struct task task)
{
	agent_begin(agent, task);
	return agent_end(agent);
}

void assert_succeeded(const struct outcome *outcome)
{
	if (outcome->result)
		fail_msg("%s", outcome->reason);
}

void assert_failed(const struct outcome *outcome, const char *words)
{
	assert_int_equal(outcome->result, -1);
	assert_contains(outcome->reason, words);
}

struct outcome agent_must(struct agent *agent, struct task task)
{
	struct outcome outcome = agent_do(agent, task);

	assert_succeeded(&outcome);
	return outcome;
}

struct outcome agent_must_fail(struct agent *agent, struct task task, const char *words)
{
	struct outcome outcome = agent_do(agent, task);

	assert_failed(&outcome, words);
	return outcome;
}

void agent_stop(struct agent *agent)
{
	int status;

	shutdown(agent->line, SHUT_WR);
	status = reap(agent, PATIENCE_MS);
	if (status)
		fail_msg("an agent ended with status %#x", (unsigned int)status);
}

void agent_kill(struct agent *agent)
{
	kill(agent->pid, SIGKILL);
	reap(agent, PATIENCE_MS);
}

void agent_await_signal(struct agent *agent, int signal)
{
	int status = reap(agent, PATIENCE_MS);

	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), signal);
}

static bool is_poll(long number)
{
#ifdef SYS_poll
	if (number == SYS_poll)
		return true;
#endif
	return number == SYS_ppoll;
}

void agent_await_sleep(const struct agent *agent)
{
	uint64_t deadline = clock_deadline(PATIENCE_MS);
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)agent->pid);
	while (clock_left_ms(deadline)) {
		FILE *file = fopen(path, "re");
		char line[64] = "";

		assert_non_null(file);
		if (!fgets(line, sizeof(line), file))
			line[0] = '\0';
		fclose(file);
		if (line[0] >= '0' && line[0] <= '9' && is_poll(strtol(line, NULL, 10)))
			return;
		usleep(200);
	}
	fail_msg("the agent does not sleep");
}

int agents_end(void **state)
{
	for (size_t i = 0; i < AGENTS_MAX; i++)
		if (agents[i].pid)
			agent_kill(&agents[i]);
	return 0;
}

static const char *or_null(const char *text)
{
	return text[0] ? text : NULL;
}

static int run_setup_server(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	return rdma_setup_server(ctx, (uint16_t)task->a, or_null(task->device));
}

static int run_wait_for_client(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	return rdma_wait_for_client(ctx);
}

static int run_setup_client(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	return rdma_setup_client(ctx, task->host, (uint16_t)task->a, or_null(task->device));
}

static int run_connect(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	return rdma_connect_server(ctx);
}

static int run_close(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	return rdma_close(ctx);
}

static int run_send(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	return rdma_send(ctx, task->a);
}

static int run_recv(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	return rdma_recv(ctx, value);
}

static int run_prepare(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	return rdma_prepare(ctx);
}

static int run_write(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	return rdma_write(ctx, task->a, task->b, task->c);
}

static int run_read(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	return rdma_read(ctx, task->a, task->b, task->c);
}

static int run_notify_write(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	return rdma_notify_write(ctx);
}

static int run_notify_read(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	return rdma_notify_read(ctx);
}

struct task task_setup_server(uint16_t port, const char *device)
{
	struct task task = {.run = run_setup_server, .a = port};

	snprintf(task.device, sizeof(task.device), "%s", device ? device : "");
	return task;
}

struct task task_wait_for_client(void)
{
	return (struct task){.run = run_wait_for_client};
}

struct task task_setup_client(const char *host, uint16_t port, const char *device)
{
	struct task task = {.run = run_setup_client, .a = port};

	snprintf(task.host, sizeof(task.host), "%s", host);
	snprintf(task.device, sizeof(task.device), "%s", device ? device : "");
	return task;
}

struct task task_connect(void)
{
	return (struct task){.run = run_connect};
}

struct task task_close(void)
{
	return (struct task){.run = run_close};
}

struct task task_send(size_t length)
{
	return (struct task){.run = run_send, .a = length};
}

struct task task_recv(void)
{
	return (struct task){.run = run_recv};
}

struct task task_prepare(void)
{
	return (struct task){.run = run_prepare};
}

struct task task_write(size_t local, size_t remote, size_t length)
{
	return (struct task){.run = run_write, .a = local, .b = remote, .c = length};
}

struct task task_read(size_t local, size_t remote, size_t length)
{
	return (struct task){.run = run_read, .a = local, .b = remote, .c = length};
}

struct task task_notify_write(void)
{
	return (struct task){.run = run_notify_write};
}

struct task task_notify_read(void)
{
	return (struct task){.run = run_notify_read};
}

/* Returns a byte that depends on seed and place, so that shifted data is detected. */
static char pattern(size_t seed, size_t place)
{
	uint64_t mixed = (seed << 32 | place) * 0x9e3779b97f4a7c15;

	return (char)(mixed >> 56 ^ mixed >> 29);
}

static int run_fill(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	for (size_t i = task->b; i < task->b + task->c; i++)
		ctx->buffer[i] = pattern(task->a, i);
	return 0;
}

struct task task_fill(size_t seed, size_t offset, size_t length)
{
	return (struct task){.run = run_fill, .a = seed, .b = offset, .c = length};
}

static int run_compare(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	size_t filled_at = strtoul(task->host, NULL, 10);

	for (size_t i = 0; i < task->c; i++) {
		if (ctx->buffer[task->b + i] == pattern(task->a, filled_at + i))
			continue;
		snprintf(ctx->reason, sizeof(ctx->reason), "byte %zu of the buffer is wrong",
			 task->b + i);
		return -1;
	}
	return 0;
}

struct task task_compare(size_t seed, size_t offset, size_t length, size_t filled_at)
{
	struct task task = {.run = run_compare, .a = seed, .b = offset, .c = length};

	snprintf(task.host, sizeof(task.host), "%zu", filled_at);
	return task;
}

static size_t entries(const char *path)
{
	DIR *folder = opendir(path);
	size_t count = 0;

	while (folder && readdir(folder))
		count++;
	if (folder)
		closedir(folder);
	return count;
}

static int run_count(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	*value = 1000 * entries("/proc/self/task") + entries("/proc/self/fd");
	return 0;
}

static size_t count(struct agent *agent)
{
	return agent_must(agent, (struct task){.run = run_count}).value;
}

size_t count_at_rest(struct agent *agent)
{
	uint64_t deadline = clock_deadline(10000);
	size_t before = count(agent);

	for (int same = 0; same < 10 && clock_left_ms(deadline); same++) {
		size_t now;

		usleep(10000);
		now = count(agent);
		if (now != before)
			same = 0;
		before = now;
	}
	return before;
}

void assert_count(struct agent *agent, size_t before)
{
	uint64_t deadline = clock_deadline(10000);
	size_t now = count(agent);

	while (now != before && clock_left_ms(deadline)) {
		usleep(1000);
		now = count(agent);
	}
	/* Thousands are threads, the rest descriptors. */
	assert_int_equal(now, before);
}

void agents_join(struct agent *server, struct agent *client, const char *host, uint16_t port)
{
	struct outcome outcome;

	agent_must(client, task_setup_client(host, port, NULL));
	agent_must(client, task_connect());
	outcome = agent_end(server);
	assert_succeeded(&outcome);
}

void agents_connect_to(struct agent *server, struct agent *client, const char *host)
{
	uint16_t port = agent_must(server, task_setup_server(0, NULL)).port;

	assert_int_not_equal(port, 0);
	agent_begin(server, task_wait_for_client());
	agents_join(server, client, host, port);
}

void agents_connect(struct agent *server, struct agent *client)
{
	agents_connect_to(server, client, device_host());
}

void agents_talk(struct agent *server, struct agent *client)
{
	struct outcome outcome;

	agent_begin(server, task_recv());
	agent_must(client, task_send(100));
	outcome = agent_end(server);
	assert_succeeded(&outcome);
	assert_int_equal(outcome.value, 100);
	agent_begin(client, task_recv());
	agent_must(server, task_send(50));
	outcome = agent_end(client);
	assert_succeeded(&outcome);
	assert_int_equal(outcome.value, 50);
}

void agents_stop(struct agent *server, struct agent *client)
{
	agent_must(client, task_close());
	agent_must(server, task_close());
	agent_stop(client);
	agent_stop(server);
}

static const char *from_environment(const char *name)
{
	const char *value = getenv(name);

	if (!value)
		fail_msg("%s is not set; run this with ci/softroce", name);
	return value;
}

const char *device_name(void)
{
	return from_environment("SOFTROCE_DEVICE");
}

const char *device_host(void)
{
	return from_environment("SOFTROCE_ADDRESS");
}

const char *device_host6(void)
{
	return from_environment("SOFTROCE_ADDRESS6");
}

struct resources resources_count(void)
{
	FILE *rdma = popen("rdma resource show", "re");
	struct resources sum = {0};
	char line[256];
	size_t devices = 0;

	assert_non_null(rdma);
	while (fgets(line, sizeof(line), rdma)) {
		const char *counts = strstr(line, ": pd ");
		struct resources one;

		if (!counts || sscanf(counts, ": pd %u cq %u qp %u cm_id %u mr %u", &one.pd,
				      &one.cq, &one.qp, &one.cm_id, &one.mr) < 5)
			continue;
		devices++;
		/* Older kernels do not report SRQs. */
		counts = strstr(counts, " srq ");
		if (counts)
			sum.srq += (unsigned int)strtoul(counts + strlen(" srq "), NULL, 10);
		sum.pd += one.pd;
		sum.cq += one.cq;
		sum.qp += one.qp;
		sum.cm_id += one.cm_id;
		sum.mr += one.mr;
	}
	pclose(rdma);
	assert_true(devices > 0);
	return sum;
}

void assert_resources(struct resources before)
{
	uint64_t deadline = clock_deadline(10000);
	struct resources now = resources_count();

	while (memcmp(&now, &before, sizeof(now)) != 0 && clock_left_ms(deadline)) {
		usleep(10000);
		now = resources_count();
	}
	if (memcmp(&now, &before, sizeof(now)) != 0)
		fail_msg("leaked: pd %u->%u cq %u->%u qp %u->%u cm_id %u->%u mr %u->%u "
			 "srq %u->%u",
			 before.pd, now.pd, before.cq, now.cq, before.qp, now.qp, before.cm_id,
			 now.cm_id, before.mr, now.mr, before.srq, now.srq);
}
