/* SPDX-License-Identifier: MIT */
/* Operations between two processes, see pair.h. */
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

/* The peer's memory is changed and read while its program sleeps. */
static void test_sleeping_target(void **unused)
{
	struct pair pair;

	pair_set_up(&pair, pair_wait, &(struct stage_ways){0});
	change_and_read(&pair);
	pair_send(pair.socket, "e", 1);
	pair_tear_down(&pair);
}

/* Both processes have only a loopback address, in separate network namespaces. */
static void test_target_in_another_network(void **unused)
{
	struct pair pair;

	if (!may_have_networks) {
		print_message("# this machine does not allow network namespaces\n");
		skip();
	}
	pair_set_up(&pair, pair_wait, &(struct stage_ways){.has_own_network = true});
	change_and_read(&pair);
	pair_send(pair.socket, "e", 1);
	pair_tear_down(&pair);
}

/* Returns whether processes need copy servers, as the kernel forbids access to their memory. */
static bool has_copy_servers(void)
{
	return getenv("SOFT_COPY_SERVERS");
}

/* The peer's memory is changed and read while all its threads are stopped. */
static void test_stopped_target(void **unused)
{
	struct pair pair;
	int result;

	pair_set_up(&pair, pair_wait, &(struct stage_ways){0});
	assert_int_equal(kill(pair.child, SIGSTOP), 0);
	assert_int_equal(waitpid(pair.child, &result, WUNTRACED), pair.child);
	assert_true(WIFSTOPPED(result));
	if (has_copy_servers()) {
		/* The copy server is stopped, too. */
		pair_post(&pair, IBV_WR_RDMA_WRITE, LARGE);
		assert_int_equal(pair_status(&pair), IBV_WC_RETRY_EXC_ERR);
	} else {
		change_and_read(&pair);
	}
	assert_int_equal(kill(pair.child, SIGCONT), 0);
	pair_send(pair.socket, "e", 1);
	pair_tear_down(&pair);
}

/* Returns the number of context switches of all threads of a process. */
static uint64_t count_switches(pid_t process)
{
	char pattern[64];
	uint64_t sum = 0;
	glob_t tasks;

	snprintf(pattern, sizeof(pattern), "/proc/%d/task/*/status", process);
	assert_int_equal(glob(pattern, 0, NULL, &tasks), 0);
	/* The main thread and the device's threads. */
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

/* No thread of an idle connected process ever runs. */
static void test_no_thread_is_busy(void **unused)
{
	struct pair pair;
	uint64_t before;
	uint64_t now;

	pair_set_up(&pair, pair_wait, &(struct stage_ways){0});
	pair_post(&pair, IBV_WR_RDMA_WRITE, 8);
	assert_int_equal(pair_status(&pair), IBV_WC_SUCCESS);
	/* Threads may need some time to fall asleep; a busy one never does. */
	now = count_switches(pair.child);
	for (int tries = 0; tries < 20; tries++) {
		before = now;
		usleep(500000);
		now = count_switches(pair.child);
		if (now == before)
			break;
	}
	assert_int_equal(now, before);
	pair_send(pair.socket, "e", 1);
	pair_tear_down(&pair);
}

/* Echoes messages from end[0]. */
static void echo(struct pair *pair)
{
	static const uint32_t sizes[] = {8, LARGE};
	struct stage_end *end = &pair->stage.end[0];
	struct ibv_sge sge = {(uintptr_t)end->buffer, LARGE, pair->stage.mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad;

	for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
		assert_int_equal(ibv_post_recv(end->qp, &wr, &bad), 0);
		pair_send(pair->socket, "r", 1);
		assert_int_equal(stage_await(end->cq).byte_len, sizes[i]);
		pair_post(pair, IBV_WR_SEND, sizes[i]);
		assert_int_equal(stage_await(end->cq).status, IBV_WC_SUCCESS);
	}
	pair_wait(pair);
}

/* Messages of both sizes make a round trip; the receiver sleeps until they arrive. */
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
		pair_receive(pair.socket, &word, 1);
		pair_post(&pair, IBV_WR_SEND, size);
		assert_int_equal(ibv_req_notify_cq(end->cq, 0), 0);
		/* Either completion, of the send or of the receive, may arrive after the arming. */
		if (stage_await(end->cq).opcode == IBV_WC_SEND && stage_is_empty(end->cq)) {
			assert_int_equal(poll(&readable, 1, 20000), 1);
			assert_int_equal(ibv_get_cq_event(pair.stage.channel, &cq, &context), 0);
			ibv_ack_cq_events(cq, 1);
			assert_int_equal(stage_await(end->cq).opcode, IBV_WC_RECV);
		}
		assert_memory_equal(end->buffer, pair.stage.end[1].buffer, size);
	}
	pair_send(pair.socket, "e", 1);
	pair_tear_down(&pair);
}

/* Writes to shared memory still succeed for a short time after the target ended. */
static void test_killed_target(void **unused)
{
	struct pair pair;
	enum ibv_wc_status status = IBV_WC_SUCCESS;

	pair_set_up(&pair, pair_wait, &(struct stage_ways){.retry_cnt = 1});
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

/* Takes a receive of the peer, and sleeps before it completes; the test kills it. */
static void take_and_die(struct pair *pair, bool is_stopped)
{
	struct soft_peer *peer;
	struct soft_qp_image *qp;

	pair_wait(pair);
	peer = soft_peer_find(soft_image_slot(pair->peer.number));
	if (!peer)
		_exit(1);
	qp = &peer->arena->image->qp[soft_image_index(pair->peer.number)];
	soft_lock_take(&qp->queue.lock);
	qp->queue.owed_head = atomic_load(&qp->queue.head) + 1;
	atomic_store(&qp->queue.owed, 1);
	atomic_fetch_add(&qp->queue.head, 1);
	if (is_stopped)
		atomic_store(&qp->state, IBV_QPS_ERR);
	pair_send(pair->socket, "h", 1);
	pause();
}

static void die_owing(struct pair *pair)
{
	take_and_die(pair, false);
}

/* Does the same while stopping the queue pair. */
static void die_stopping(struct pair *pair)
{
	take_and_die(pair, true);
}

/* Posts four receives, and waits until the peer is dead. */
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
	pair_send(pair->socket, "g", 1);
	pair_receive(pair->socket, &word, 1);
	kill(pair->child, SIGKILL);
	waitpid(pair->child, NULL, 0);
}

/* A receive that the dead process took is available again, without a completion. */
static void test_receive_is_restored(void **unused)
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

/* All posted receives are flushed, including the one that the dead process took. */
static void test_receive_is_flushed(void **unused)
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

/* Returns false if the successor got another slot because the first one was still in use. */
static bool try_a_successor(void)
{
	struct stage_ways ways = {.retry_cnt = 1};
	struct pair first;
	struct pair second;
	bool is_one;

	pair_start(&second, pair_wait, &ways);
	pair_set_up(&first, pair_wait, &ways);
	pair_send(first.socket, "e", 1);
	assert_int_equal(waitpid(first.child, NULL, 0), first.child);
	pair_send(second.socket, "g", 1);
	pair_meet(&second, &ways);
	is_one = soft_image_slot(second.peer.number) == soft_image_slot(first.peer.number);
	assert_int_not_equal(second.peer.number, first.peer.number);
	pair_post(&first, IBV_WR_RDMA_WRITE, 8);
	assert_int_equal(pair_status(&first), IBV_WC_RETRY_EXC_ERR);
	pair_post(&second, IBV_WR_RDMA_WRITE, 8);
	assert_int_equal(pair_status(&second), IBV_WC_SUCCESS);
	pair_send(second.socket, "e", 1);
	pair_tear_down(&second);
	stage_close(&first.stage);
	close(first.socket);
	return is_one;
}

/* Another process gets the slot of a dead peer, but not its connections. */
static void test_slot_successor(void **unused)
{
	int tries = 1;

	while (!try_a_successor())
		assert_true(++tries < 20);
}

/* A child that is forked while the device is open opens its own device. */
static void test_forked_child(void **unused)
{
#ifdef __SANITIZE_THREAD__
	print_message("# ThreadSanitizer does not support threads in a forked child\n");
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
	pair_set_up(&pair, pair_wait, &(struct stage_ways){0});
	pair_post(&pair, IBV_WR_RDMA_WRITE, LARGE);
	assert_int_equal(pair_status(&pair), IBV_WC_SUCCESS);
	pair_send(pair.socket, "e", 1);
	pair_tear_down(&pair);
	stage_close(&open);
}

#ifdef HAVE_ATOMIC_WRITE
static const uint64_t written = 0x0123456789abcdef;

static void check_written(struct pair *pair)
{
	memset(pair->stage.end[1].buffer, 0, 16);
	pair_send(pair->socket, "r", 1);
	pair_wait(pair);
	assert_memory_equal(pair->stage.end[1].buffer, &written, 8);
	assert_int_equal(pair->stage.end[1].buffer[8], 0);
}

/* The copy server, too, serves atomic writes to memory that must not be read. */
static void test_atomic_write(void **unused)
{
	struct ibv_qp_ex *qp;
	struct pair pair;

	pair_set_up(&pair, check_written, &(struct stage_ways){.access = IBV_ACCESS_REMOTE_WRITE});
	pair_wait(&pair);
	qp = ibv_qp_to_qp_ex(pair.stage.end[0].qp);
	ibv_wr_start(qp);
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_write(qp, pair.peer.rkey, pair.peer.address, &written);
	assert_int_equal(ibv_wr_complete(qp), 0);
	assert_int_equal(pair_status(&pair), IBV_WC_SUCCESS);
	pair_send(pair.socket, "e", 1);
	pair_tear_down(&pair);
}
#endif

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

/* Clients that send anything but a hello are disconnected; others are served. */
static void test_strangers(void **unused)
{
	static const char garbage[200] = {1, 2, 3};
	struct pair pair;
	char answer;

	pair_set_up(&pair, pair_wait, &(struct stage_ways){0});
	for (size_t size = 1; size < sizeof(garbage); size += 15) {
		int fd = knock(garbage, size);

		assert_int_equal(recv(fd, &answer, 1, 0), 0);
		close(fd);
	}
	pair_post(&pair, IBV_WR_RDMA_WRITE, 8);
	assert_int_equal(pair_status(&pair), IBV_WC_SUCCESS);
	pair_send(pair.socket, "e", 1);
	pair_tear_down(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_sleeping_target, pair_end_child),
		cmocka_unit_test_teardown(test_target_in_another_network, pair_end_child),
		cmocka_unit_test_teardown(test_stopped_target, pair_end_child),
		cmocka_unit_test_teardown(test_no_thread_is_busy, pair_end_child),
		cmocka_unit_test_teardown(test_messages_and_events, pair_end_child),
		cmocka_unit_test_teardown(test_killed_target, pair_end_child),
		cmocka_unit_test_teardown(test_receive_is_restored, pair_end_child),
		cmocka_unit_test_teardown(test_receive_is_flushed, pair_end_child),
		cmocka_unit_test_teardown(test_slot_successor, pair_end_child),
		cmocka_unit_test_teardown(test_forked_child, pair_end_child),
		cmocka_unit_test_teardown(test_strangers, pair_end_child),
#ifdef HAVE_ATOMIC_WRITE
		cmocka_unit_test_teardown(test_atomic_write, pair_end_child),
#endif
	};

	may_have_networks = network_prepare();
	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
