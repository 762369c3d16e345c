/* SPDX-License-Identifier: MIT */
/*
 * No wake-up is lost. Two agents exchange a message, sleeping for it without a time limit,
 * and spin for a random time before they answer, so that it arrives at any point between
 * the peer's drain, arming and sleep. A lost wake-up is a hang. VERBMARK_ROUNDS is the
 * number of round trips (default 50000).
 */
#include <stdlib.h>
#include <unistd.h>

#include "core/rdma/context.h"
#include "core/test/lib/progress.h"
#include "core/test/lib/rows.h"
#include "core/verbs/verbs.h"

#define MESSAGE 8
/* Without progress for this long, the agents are considered hung. */
#define STALL_MS 60000
#define RECEIVE  11
#define SEND     12

/* One side of the exchange. Completions of its receive and send arrive in any order. */
struct player {
	struct rdma_context *ctx;
	unsigned int received;
	unsigned int sent;
	uint64_t random;
	uint64_t longest; /* maximum spin time, in iterations of an empty loop */
};

static int post_own_receive(struct player *player)
{
	struct rdma_context *ctx = player->ctx;
	struct post_work work = {
		.id = RECEIVE,
		.n_sges = 1,
		.sges = {{.addr = (uintptr_t)ctx->buffer,
			  .length = MESSAGE,
			  .lkey = ctx->mr->lkey}},
	};

	return post_receive(&ctx->state->queue, &work);
}

static int post_own_send(struct player *player)
{
	struct rdma_context *ctx = player->ctx;
	struct post_work work = {
		.id = SEND,
		.flags = IBV_SEND_INLINE,
		.n_sges = 1,
		.sges = {{.addr = (uintptr_t)ctx->buffer + 64, .length = MESSAGE}},
	};

	return post_send(&ctx->state->queue, &work, POST_SEND,
			 post_choose(&ctx->state->queue, &work), IBV_SEND_SIGNALED);
}

static void spin_a_moment(struct player *player)
{
	player->random ^= player->random << 13;
	player->random ^= player->random >> 7;
	player->random ^= player->random << 17;
	/* Usually very short, sometimes as long as a thread needs to fall asleep. */
	for (uint64_t i = player->random % (player->random & 0x700 ? 64 : player->longest); i; i--)
		__asm__ volatile("");
}

/* Takes completions, without a deadline, until both counts are reached. */
static int sleep_until(struct player *player, unsigned int received, unsigned int sent,
		       struct error *error)
{
	while (player->received < received || player->sent < sent) {
		struct ibv_wc wc;
		int got =
			completion_wait(context_completion(player->ctx), 1, &wc, UINT64_MAX, error);

		if (got < 0)
			return got;
		if (wc.status)
			return verbs_completion_error(error, "wakeup", &wc);
		if (wc.wr_id == RECEIVE)
			player->received++;
		else
			player->sent++;
	}
	return 0;
}

static int play(struct player *player, unsigned int rounds, bool begins, struct error *error)
{
	int code = 0;

	for (unsigned int i = 0; i < rounds && !code; i++) {
		if (begins) {
			spin_a_moment(player);
			code = post_own_send(player);
		}
		if (!code)
			code = sleep_until(player, i + 1, begins ? i + 1 : i, error);
		/* Post the next receive before the peer can answer. */
		if (!code)
			code = post_own_receive(player);
		if (!code && !begins) {
			spin_a_moment(player);
			code = post_own_send(player);
		} else if (!code) {
			atomic_store(progress, i + 1);
		}
	}
	return code || begins ? code : sleep_until(player, rounds, rounds, error);
}

static int run_post_first(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	struct player player = {.ctx = ctx};

	return post_own_receive(&player);
}

/* Returns the number of sleeps in value. */
static int run_play(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	struct player player = {
		.ctx = ctx, .random = task->b ? 88172645463325252 : 2463534242, .longest = task->c};
	struct error error = {0};
	int code = play(&player, (unsigned int)task->a, task->b, &error);

	*value = context_completion(ctx)->events;
	snprintf(ctx->reason, sizeof(ctx->reason), "%s", error.text);
	return code ? -1 : 0;
}

static void await_rounds(size_t rounds)
{
	uint64_t deadline = clock_deadline(STALL_MS);
	size_t last = 0;

	for (;;) {
		size_t now = atomic_load(progress);

		if (now == rounds)
			return;
		if (now != last)
			deadline = clock_deadline(STALL_MS);
		last = now;
		if (!clock_left_ms(deadline))
			fail_msg("hangs after %zu of %zu rounds", now, rounds);
		usleep(10000);
	}
}

static void play_together(int cq_notify, size_t rounds)
{
	const struct rdma_context settings = {
		.cq_notify = cq_notify,
		.settings = {.own_receives = true, .rnr_retry = 7, .spin_us = 20},
	};
	struct agent *server = agent_start(&settings);
	struct agent *client = agent_start(&settings);
	/* In adaptive mode, the wait must outlast the polling. */
	struct task task = {
		.run = run_play, .a = rounds, .c = cq_notify == RDMA_EVENT ? 16384 : 1 << 20};
	struct outcome outcome;
	uint64_t start = clock_now_ns();

	agents_connect(server, client);
	agent_must(server, (struct task){.run = run_post_first});
	agent_must(client, (struct task){.run = run_post_first});
	atomic_store(progress, 0);
	agent_begin(server, task);
	task.b = 1;
	agent_begin(client, task);
	await_rounds(rounds);
	outcome = agent_end(client);
	assert_succeeded(&outcome);
	print_message("# %zu rounds in %.1f s, %zu events\n", rounds,
		      (double)(clock_now_ns() - start) / 1e9, outcome.value);
	/* It did sleep: otherwise nothing was tested. */
	assert_true(outcome.value > rounds / 100);
	outcome = agent_end(server);
	assert_succeeded(&outcome);
	agent_stop(client);
	agent_stop(server);
}

static size_t rounds_wanted(void)
{
	const char *rounds = getenv("VERBMARK_ROUNDS");

	return rounds ? strtoul(rounds, NULL, 10) : 50000;
}

static void test_event_mode(void **unused)
{
	play_together(RDMA_EVENT, rounds_wanted());
}

static void test_adaptive_mode(void **unused)
{
	play_together(RDMA_ADAPTIVE, rounds_wanted() / 10);
}

/* The same with blocking operations, whose sends complete in between. */
static int run_talk(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	struct player player = {
		.ctx = ctx, .random = task->b ? 88172645463325252 : 2463534242, .longest = 16384};
	int result = rdma_prepare(ctx);

	for (size_t i = 0; i < task->a && !result; i++) {
		if (!task->b)
			result = rdma_recv(ctx, NULL) || rdma_prepare(ctx);
		spin_a_moment(&player);
		result = result || rdma_send(ctx, MESSAGE);
		if (task->b)
			result = result || rdma_recv(ctx, NULL) || rdma_prepare(ctx);
		atomic_store(progress, i + 1);
	}
	*value = context_completion(ctx)->events;
	return result ? -1 : 0;
}

static void test_blocking_operations(void **unused)
{
	const struct rdma_context settings = {.cq_notify = RDMA_EVENT};
	struct agent *server = agent_start(&settings);
	struct agent *client = agent_start(&settings);
	struct task task = {.run = run_talk, .a = rounds_wanted() / 10};
	struct outcome outcome;

	agents_connect(server, client);
	atomic_store(progress, 0);
	agent_begin(server, task);
	task.b = 1;
	agent_begin(client, task);
	await_rounds(task.a);
	outcome = agent_end(client);
	assert_succeeded(&outcome);
	assert_true(outcome.value > task.a / 100);
	outcome = agent_end(server);
	assert_succeeded(&outcome);
	agent_stop(client);
	agent_stop(server);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_event_mode, agents_end),
		cmocka_unit_test_teardown(test_adaptive_mode, agents_end),
		cmocka_unit_test_teardown(test_blocking_operations, agents_end),
	};
	const struct rows rows = ROWS(tests);

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return rows_run(&rows, 1, progress_share);
}
