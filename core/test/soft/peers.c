/* SPDX-License-Identifier: MIT */
/*
 * Two processes: the test's own, and a child that was forked before either of them
 * opened the device. They tell each other what they need through a pair of sockets, and
 * each step of the child is asked for.
 */
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "core/soft/op/qp.h"
#include "core/soft/op/receive_queue.h"
#include "core/soft/peer/peer.h"
#include "core/soft/peer/process.h"
#include "core/test/soft/network.h"
#include "core/test/soft/pair.h"

enum {
	LARGE = 300000,
	MARK = 0x5a,
};

static bool may_have_networks;

static void change_and_read(struct pair *pair)
{
	unsigned char *buffer = pair->stage.end[0].buffer;

	memset(buffer, MARK, LARGE);
	pair_post(pair, IBV_WR_RDMA_WRITE, LARGE);
	assert_int_equal(pair_status(pair), IBV_WC_SUCCESS);
	memset(buffer, 0, LARGE);
	pair_post(pair, IBV_WR_ATOMIC_FETCH_AND_ADD, 8);
	assert_int_equal(pair_status(pair), IBV_WC_SUCCESS);
	assert_int_equal(buffer[0], MARK);
	pair_post(pair, IBV_WR_RDMA_READ, LARGE);
	assert_int_equal(pair_status(pair), IBV_WC_SUCCESS);
	assert_int_equal(buffer[0], MARK + 1);
	for (int i = 1; i < LARGE; i++)
		assert_int_equal(buffer[i], MARK);
}

/* The other end's memory is changed and read while its program sleeps. */
static void test_a_target_that_sleeps(void **unused)
{
	struct pair pair;

	pair_set_up(&pair, pair_sleep, &(struct stage_ways){0});
	change_and_read(&pair);
	pair_tell(pair.socket, "e", 1);
	pair_tear_down(&pair);
}

/* Where both have only the loopback's address in common, and it leads to no other. */
static void test_a_target_in_another_network(void **unused)
{
	struct pair pair;

	if (!may_have_networks) {
		print_message("# this machine lets nobody have a network of his own\n");
		skip();
	}
	pair_set_up(&pair, pair_sleep, &(struct stage_ways){.has_own_network = true});
	change_and_read(&pair);
	pair_tell(pair.socket, "e", 1);
	pair_tear_down(&pair);
}

/* Whether the kernel lets no process access another's memory, so that each has a copy server. */
static bool has_copy_servers(void)
{
	return getenv("SOFT_COPY_SERVERS");
}

/* And while none of its threads runs. */
static void test_a_target_that_is_stopped(void **unused)
{
	struct pair pair;
	int result;

	pair_set_up(&pair, pair_sleep, &(struct stage_ways){0});
	assert_int_equal(kill(pair.child, SIGSTOP), 0);
	assert_int_equal(waitpid(pair.child, &result, WUNTRACED), pair.child);
	assert_true(WIFSTOPPED(result));
	if (has_copy_servers()) {
		/* They are stopped with it. */
		pair_post(&pair, IBV_WR_RDMA_WRITE, LARGE);
		assert_int_equal(pair_status(&pair), IBV_WC_RETRY_EXC_ERR);
	} else {
		change_and_read(&pair);
	}
	assert_int_equal(kill(pair.child, SIGCONT), 0);
	pair_tell(pair.socket, "e", 1);
	pair_tear_down(&pair);
}

/* How often the threads of a process were given a processor. */
static uint64_t count_turns(pid_t process)
{
	char pattern[64];
	uint64_t sum = 0;
	glob_t tasks;

	snprintf(pattern, sizeof(pattern), "/proc/%d/task/*/status", process);
	assert_int_equal(glob(pattern, 0, NULL, &tasks), 0);
	/* The program's own, and the device's. */
	assert_int_equal(tasks.gl_pathc, has_copy_servers() ? 3 : 2);
	for (size_t i = 0; i < tasks.gl_pathc; i++) {
		FILE *file = fopen(tasks.gl_pathv[i], "re");
		char line[256];

		assert_non_null(file);
		while (fgets(line, sizeof(line), file))
			if (strstr(line, "voluntary_ctxt_switches:"))
				sum += strtoull(strchr(line, ':') + 1, NULL, 10);
		fclose(file);
	}
	globfree(&tasks);
	return sum;
}

/* A connected process that has nothing to do: none of its threads runs, as long as it may be. */
static void test_no_thread_is_busy(void **unused)
{
	struct pair pair;
	uint64_t before;
	uint64_t now;

	pair_set_up(&pair, pair_sleep, &(struct stage_ways){0});
	pair_post(&pair, IBV_WR_RDMA_WRITE, 8);
	assert_int_equal(pair_status(&pair), IBV_WC_SUCCESS);
	/* It may be on its way to sleep: one that is busy never comes there. */
	now = count_turns(pair.child);
	for (int tries = 0; tries < 20; tries++) {
		before = now;
		usleep(500000);
		now = count_turns(pair.child);
		if (now == before)
			break;
	}
	assert_int_equal(now, before);
	pair_tell(pair.socket, "e", 1);
	pair_tear_down(&pair);
}

/* Answers from its first end what it gets there. */
static void echo(struct pair *pair)
{
	static const uint32_t sizes[] = {8, LARGE};
	struct stage_end *end = &pair->stage.end[0];
	struct ibv_sge sge = {(uintptr_t)end->buffer, LARGE, pair->stage.mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad;

	for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
		assert_int_equal(ibv_post_recv(end->qp, &wr, &bad), 0);
		pair_tell(pair->socket, "r", 1);
		assert_int_equal(stage_await(end->cq).byte_len, sizes[i]);
		pair_post(pair, IBV_WR_SEND, sizes[i]);
		assert_int_equal(stage_await(end->cq).status, IBV_WC_SUCCESS);
	}
	pair_sleep(pair);
}

/* Both sizes there and back, asleep until it comes. */
static void test_messages_and_events(void **unused)
{
	struct pair pair;
	struct pollfd readable = {.events = POLLIN};
	struct stage_end *end = &pair.stage.end[0];
	struct ibv_recv_wr *bad;
	char word;

	pair_set_up(&pair, echo, &(struct stage_ways){.rnr_retry = 7});
	readable.fd = pair.stage.channel->fd;
	for (uint32_t size = 8; size <= LARGE; size += LARGE - 8) {
		struct ibv_sge sge = {(uintptr_t)pair.stage.end[1].buffer, size,
				      pair.stage.mr->lkey};
		struct ibv_recv_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1};
		struct ibv_cq *cq;
		void *context;

		memset(end->buffer, (int)size, size);
		assert_int_equal(ibv_post_recv(end->qp, &wr, &bad), 0);
		pair_hear(pair.socket, &word, 1);
		pair_post(&pair, IBV_WR_SEND, size);
		assert_int_equal(ibv_req_notify_cq(end->cq, 0), 0);
		/* The one completion or the other: whichever comes after it was armed. */
		if (stage_await(end->cq).opcode == IBV_WC_SEND && stage_is_empty(end->cq)) {
			assert_int_equal(poll(&readable, 1, 20000), 1);
			assert_int_equal(ibv_get_cq_event(pair.stage.channel, &cq, &context), 0);
			ibv_ack_cq_events(cq, 1);
			assert_int_equal(stage_await(end->cq).opcode, IBV_WC_RECV);
		}
		assert_memory_equal(end->buffer, pair.stage.end[1].buffer, size);
	}
	pair_tell(pair.socket, "e", 1);
	pair_tear_down(&pair);
}

/* Into memory that both have no other process is needed: its end is noticed a little later. */
static void test_a_target_that_is_killed(void **unused)
{
	struct pair pair;
	enum ibv_wc_status status = IBV_WC_SUCCESS;

	pair_set_up(&pair, pair_sleep, &(struct stage_ways){.retry_cnt = 1});
	pair_post(&pair, IBV_WR_RDMA_WRITE, 8);
	assert_int_equal(pair_status(&pair), IBV_WC_SUCCESS);
	kill(pair.child, SIGKILL);
	waitpid(pair.child, NULL, 0);
	for (int i = 0; i < 1000 && status == IBV_WC_SUCCESS; i++) {
		usleep(1000);
		pair_post(&pair, IBV_WR_RDMA_WRITE, 8);
		status = pair_status(&pair);
	}
	assert_int_equal(status, IBV_WC_RETRY_EXC_ERR);
	stage_close(&pair.stage);
	close(pair.socket);
}

/* Takes a receive of the other process's, and dies before there is a completion. */
static void take_and_die(struct pair *pair, bool is_stopped)
{
	struct soft_peer *peer;
	struct soft_qp_image *qp;

	pair_sleep(pair);
	peer = soft_peer_find(soft_image_slot(pair->there.number));
	if (!peer)
		_exit(1);
	qp = &peer->arena->image->qp[soft_image_index(pair->there.number)];
	soft_lock_take(&qp->queue.lock);
	qp->queue.owed_head = atomic_load(&qp->queue.head) + 1;
	atomic_store(&qp->queue.owed, 1);
	atomic_fetch_add(&qp->queue.head, 1);
	if (is_stopped)
		atomic_store(&qp->state, IBV_QPS_ERR);
	pair_tell(pair->socket, "h", 1);
	pause();
}

static void die_owing(struct pair *pair)
{
	take_and_die(pair, false);
}

/* And of one that it was about to stop. */
static void die_stopping(struct pair *pair)
{
	take_and_die(pair, true);
}

/* With four receives: until the other process is gone. */
static void outlive(struct pair *pair, void (*child)(struct pair *))
{
	struct stage_end *end = &pair->stage.end[0];
	char word;

	pair_set_up(pair, child, &(struct stage_ways){0});
	for (uint64_t i = 0; i < 4; i++) {
		struct ibv_sge sge = {(uintptr_t)end->buffer, 64, pair->stage.mr->lkey};
		struct ibv_recv_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1};
		struct ibv_recv_wr *bad;

		assert_int_equal(ibv_post_recv(end->qp, &wr, &bad), 0);
	}
	pair_tell(pair->socket, "g", 1);
	pair_hear(pair->socket, &word, 1);
	kill(pair->child, SIGKILL);
	waitpid(pair->child, NULL, 0);
}

/* It is there for who sends next: nothing was flushed, and nobody was told. */
static void test_a_receive_that_was_taken(void **unused)
{
	struct pair pair;
	const struct soft_queue *queue;

	outlive(&pair, die_owing);
	queue = &soft_qp_of(pair.stage.end[0].qp)->image->queue;
	for (int i = 0; i < 10000 && soft_queue_count(queue) < 4; i++)
		usleep(1000);
	assert_int_equal(soft_queue_count(queue), 4);
	assert_true(stage_is_empty(pair.stage.end[0].cq));
	stage_close(&pair.stage);
	close(pair.socket);
}

/* Each receive that was posted comes back, whoever was at work on it. */
static void test_a_receive_of_one_that_is_killed(void **unused)
{
	struct pair pair;
	struct stage_end *end = &pair.stage.end[0];

	outlive(&pair, die_stopping);
	for (uint64_t i = 0; i < 4; i++) {
		struct ibv_wc wc = stage_await(end->cq);

		assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
		assert_int_equal(wc.wr_id, i);
	}
	assert_true(stage_is_empty(end->cq));
	stage_close(&pair.stage);
	close(pair.socket);
}

/* False where the successor has another slot: the first one's was just being looked at. */
static bool try_a_successor(void)
{
	struct stage_ways ways = {.retry_cnt = 1};
	struct pair first;
	struct pair second;
	bool is_one;

	pair_start(&second, pair_sleep, &ways);
	pair_set_up(&first, pair_sleep, &ways);
	pair_tell(first.socket, "e", 1);
	assert_int_equal(waitpid(first.child, NULL, 0), first.child);
	pair_tell(second.socket, "g", 1);
	pair_meet(&second, &ways);
	is_one = soft_image_slot(second.there.number) == soft_image_slot(first.there.number);
	assert_int_not_equal(second.there.number, first.there.number);
	pair_post(&first, IBV_WR_RDMA_WRITE, 8);
	assert_int_equal(pair_status(&first), IBV_WC_RETRY_EXC_ERR);
	pair_post(&second, IBV_WR_RDMA_WRITE, 8);
	assert_int_equal(pair_status(&second), IBV_WC_SUCCESS);
	pair_tell(second.socket, "e", 1);
	pair_tear_down(&second);
	stage_close(&first.stage);
	close(first.socket);
	return is_one;
}

/* Its slot goes to another process: what was connected to it is not connected to that. */
static void test_a_successor(void **unused)
{
	int tries = 1;

	while (!try_a_successor())
		assert_true(++tries < 20);
}

/* A process that is forked from one with an open device opens its own. */
static void test_a_forked_child(void **unused)
{
#ifdef __SANITIZE_THREAD__
	print_message("# ThreadSanitizer follows no threads of a forked child\n");
	skip();
#endif
#ifdef __has_feature
#if __has_feature(address_sanitizer)
	/* Another thread may hold a lock of the allocator at the fork: one child in six hung. */
	print_message("# AddressSanitizer's allocator may deadlock in a forked child\n");
	return;
#endif
#endif
	struct stage open;
	struct pair pair;

	stage_open(&open, &(struct stage_ways){0});
	pair_set_up(&pair, pair_sleep, &(struct stage_ways){0});
	pair_post(&pair, IBV_WR_RDMA_WRITE, LARGE);
	assert_int_equal(pair_status(&pair), IBV_WC_SUCCESS);
	pair_tell(pair.socket, "e", 1);
	pair_tear_down(&pair);
	stage_close(&open);
}

static int knock_at(uint32_t slot)
{
	struct sockaddr_un address;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	soft_registry_address(&soft_process.registry, slot, &address);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static int knock(const char *what, size_t size)
{
	int fd = knock_at(soft_process.registry.slot);

	assert_int_equal(send(fd, what, size, MSG_NOSIGNAL), (ssize_t)size);
	return fd;
}

/* Who says something else than hello is shown out; the others are served. */
static void test_strangers(void **unused)
{
	static const char garbage[200] = {1, 2, 3};
	struct pair pair;
	char answer;

	pair_set_up(&pair, pair_sleep, &(struct stage_ways){0});
	for (size_t size = 1; size < sizeof(garbage); size += 15) {
		int fd = knock(garbage, size);

		assert_int_equal(recv(fd, &answer, 1, 0), 0);
		close(fd);
	}
	pair_post(&pair, IBV_WR_RDMA_WRITE, 8);
	assert_int_equal(pair_status(&pair), IBV_WC_SUCCESS);
	pair_tell(pair.socket, "e", 1);
	pair_tear_down(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_a_target_that_sleeps, pair_end_child),
		cmocka_unit_test_teardown(test_a_target_in_another_network, pair_end_child),
		cmocka_unit_test_teardown(test_a_target_that_is_stopped, pair_end_child),
		cmocka_unit_test_teardown(test_no_thread_is_busy, pair_end_child),
		cmocka_unit_test_teardown(test_messages_and_events, pair_end_child),
		cmocka_unit_test_teardown(test_a_target_that_is_killed, pair_end_child),
		cmocka_unit_test_teardown(test_a_receive_that_was_taken, pair_end_child),
		cmocka_unit_test_teardown(test_a_receive_of_one_that_is_killed, pair_end_child),
		cmocka_unit_test_teardown(test_a_successor, pair_end_child),
		cmocka_unit_test_teardown(test_a_forked_child, pair_end_child),
		cmocka_unit_test_teardown(test_strangers, pair_end_child),
	};

	may_have_networks = network_prepare();
	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
