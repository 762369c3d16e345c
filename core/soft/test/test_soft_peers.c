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
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/compiler.h"
#include "core/soft/peer.h"
#include "core/soft/process.h"
#include "core/soft/test/network.h"
#include "core/soft/test/stage.h"

enum {
	LARGE = 300000,
	MARK = 0x5a,
	MANY_FILES = 256,
};

/* What an end says of itself. */
struct card {
	uint32_t number;
	uint32_t rkey;
	uint32_t cq;
	uint32_t pad;
	uint64_t address;
	union ibv_gid gid;
};

struct pair {
	struct stage stage;
	struct card there;
	pid_t child;
	int socket;
};

static void tell(int socket, const void *what, size_t size)
{
	assert_int_equal(send(socket, what, size, MSG_NOSIGNAL), (ssize_t)size);
}

static void hear(int socket, void *what, size_t size)
{
	assert_int_equal(recv(socket, what, size, MSG_WAITALL), (ssize_t)size);
}

/* As the kernel has it with this process's own memory. */
static bool is_refused(void)
{
	char byte;
	struct iovec here = {&byte, 1};
	struct iovec there = {&byte, 1};

	return process_vm_readv(getpid(), &here, 1, &there, 1, 0) != 1;
}

/* The peer is asked where this process may not copy itself, and nowhere else. */
static void check_way(const struct card *there)
{
	const struct soft_peer *peer = soft_peer_find(soft_image_slot(there->number));

	assert_non_null(peer);
	assert_int_equal(peer->errands != NULL, is_refused());
}

static void meet(struct pair *pair, const struct stage_ways *ways)
{
	struct stage *stage = &pair->stage;
	struct card here = {0};
	struct stage_ways apart = *ways;

	apart.is_apart = true;
	stage_open(stage, &apart);
	here.number = stage->end[0].qp->qp_num;
	here.rkey = stage->mr->rkey;
	here.address = (uintptr_t)stage->end[1].buffer;
	assert_int_equal(ibv_query_gid(stage->context, 1, 0, &here.gid), 0);
	tell(pair->socket, &here, sizeof(here));
	hear(pair->socket, &pair->there, sizeof(pair->there));
	stage_connect(stage->end[0].qp, &pair->there.gid, pair->there.number, ways);
	check_way(&pair->there);
	/* Both are connected from here on. */
	tell(pair->socket, "c", 1);
	hear(pair->socket, &here, 1);
}

/* Of the child. */
static bool has_own_network;
static bool may_have_networks;

/* The child's part: until it is told to, it does nothing, not even poll. */
typedef void child_part(struct pair *pair);

static void sleep_until_told(struct pair *pair)
{
	char word;

	hear(pair->socket, &word, 1);
}

/* Forks the child, which opens nothing before it is told to. */
static void start(struct pair *pair, child_part *part, const struct stage_ways *ways)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	pair->child = fork();
	assert_true(pair->child >= 0);
	pair->socket = ends[!pair->child];
	close(ends[!!pair->child]);
	if (pair->child)
		return;
	sleep_until_told(pair);
	if (has_own_network && network_enter())
		_exit(1);
	meet(pair, ways);
	part(pair);
	stage_close(&pair->stage);
	_exit(0);
}

static void set_up(struct pair *pair, child_part *part, const struct stage_ways *ways)
{
	start(pair, part, ways);
	tell(pair->socket, "g", 1);
	meet(pair, ways);
}

/* What fails in the child has been told by it; nothing else of the test is its own. */
static pid_t whole;

static int end_child(void **state)
{
	if (getpid() != whole)
		_exit(1);
	return 0;
}

static void tear_down(struct pair *pair)
{
	int result;

	assert_int_equal(waitpid(pair->child, &result, 0), pair->child);
	assert_int_equal(result, 0);
	stage_close(&pair->stage);
	close(pair->socket);
}

static void post(struct pair *pair, enum ibv_wr_opcode opcode, uint32_t length)
{
	struct ibv_send_wr wr = {.opcode = opcode, .send_flags = IBV_SEND_SIGNALED};

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = pair->there.address;
		wr.wr.atomic.compare_add = 1;
		wr.wr.atomic.rkey = pair->there.rkey;
	} else {
		wr.wr.rdma.remote_addr = pair->there.address;
		wr.wr.rdma.rkey = pair->there.rkey;
	}
	assert_int_equal(stage_post(&pair->stage, &wr, length), 0);
}

static enum ibv_wc_status status(struct pair *pair)
{
	return stage_await(pair->stage.end[0].cq).status;
}

static void change_and_read(struct pair *pair)
{
	unsigned char *buffer = pair->stage.end[0].buffer;

	memset(buffer, MARK, LARGE);
	post(pair, IBV_WR_RDMA_WRITE, LARGE);
	assert_int_equal(status(pair), IBV_WC_SUCCESS);
	memset(buffer, 0, LARGE);
	post(pair, IBV_WR_ATOMIC_FETCH_AND_ADD, 8);
	assert_int_equal(status(pair), IBV_WC_SUCCESS);
	assert_int_equal(buffer[0], MARK);
	post(pair, IBV_WR_RDMA_READ, LARGE);
	assert_int_equal(status(pair), IBV_WC_SUCCESS);
	assert_int_equal(buffer[0], MARK + 1);
	for (int i = 1; i < LARGE; i++)
		assert_int_equal(buffer[i], MARK);
}

/* The other end's memory is changed and read while its program sleeps. */
static void test_a_target_that_sleeps(void **unused)
{
	struct pair pair;

	set_up(&pair, sleep_until_told, &(struct stage_ways){0});
	change_and_read(&pair);
	tell(pair.socket, "e", 1);
	tear_down(&pair);
}

/* Where both have only the loopback's address in common, and it leads to no other. */
static void test_a_target_in_another_network(void **unused)
{
	struct pair pair;

	if (!may_have_networks) {
		print_message("# this machine lets nobody have a network of his own\n");
		skip();
	}
	has_own_network = true;
	set_up(&pair, sleep_until_told, &(struct stage_ways){0});
	has_own_network = false;
	change_and_read(&pair);
	tell(pair.socket, "e", 1);
	tear_down(&pair);
}

/* Whether the kernel lets nobody into another's memory: each has a porter. */
static bool has_porters(void)
{
	return getenv("SOFT_PORTERS");
}

/* And while none of its threads runs. */
static void test_a_target_that_is_stopped(void **unused)
{
	struct pair pair;
	int result;

	set_up(&pair, sleep_until_told, &(struct stage_ways){0});
	assert_int_equal(kill(pair.child, SIGSTOP), 0);
	assert_int_equal(waitpid(pair.child, &result, WUNTRACED), pair.child);
	assert_true(WIFSTOPPED(result));
	if (has_porters()) {
		/* They are stopped with it. */
		post(&pair, IBV_WR_RDMA_WRITE, LARGE);
		assert_int_equal(status(&pair), IBV_WC_RETRY_EXC_ERR);
	} else {
		change_and_read(&pair);
	}
	assert_int_equal(kill(pair.child, SIGCONT), 0);
	tell(pair.socket, "e", 1);
	tear_down(&pair);
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
	assert_int_equal(tasks.gl_pathc, has_porters() ? 3 : 2);
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

	set_up(&pair, sleep_until_told, &(struct stage_ways){0});
	post(&pair, IBV_WR_RDMA_WRITE, 8);
	assert_int_equal(status(&pair), IBV_WC_SUCCESS);
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
	tell(pair.socket, "e", 1);
	tear_down(&pair);
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
		tell(pair->socket, "r", 1);
		assert_int_equal(stage_await(end->cq).byte_len, sizes[i]);
		post(pair, IBV_WR_SEND, sizes[i]);
		assert_int_equal(stage_await(end->cq).status, IBV_WC_SUCCESS);
	}
	sleep_until_told(pair);
}

/* Both sizes there and back, asleep until it comes. */
static void test_messages_and_events(void **unused)
{
	struct pair pair;
	struct pollfd readable = {.events = POLLIN};
	struct stage_end *end = &pair.stage.end[0];
	struct ibv_recv_wr *bad;
	char word;

	set_up(&pair, echo, &(struct stage_ways){.rnr_retry = 7});
	readable.fd = pair.stage.channel->fd;
	for (uint32_t size = 8; size <= LARGE; size += LARGE - 8) {
		struct ibv_sge sge = {(uintptr_t)pair.stage.end[1].buffer, size,
				      pair.stage.mr->lkey};
		struct ibv_recv_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1};
		struct ibv_cq *cq;
		void *context;

		memset(end->buffer, (int)size, size);
		assert_int_equal(ibv_post_recv(end->qp, &wr, &bad), 0);
		hear(pair.socket, &word, 1);
		post(&pair, IBV_WR_SEND, size);
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
	tell(pair.socket, "e", 1);
	tear_down(&pair);
}

static void test_a_target_that_is_killed(void **unused)
{
	struct pair pair;

	set_up(&pair, sleep_until_told, &(struct stage_ways){.retry_cnt = 1});
	post(&pair, IBV_WR_RDMA_WRITE, 8);
	assert_int_equal(status(&pair), IBV_WC_SUCCESS);
	kill(pair.child, SIGKILL);
	waitpid(pair.child, NULL, 0);
	post(&pair, IBV_WR_RDMA_WRITE, 8);
	assert_int_equal(status(&pair), IBV_WC_RETRY_EXC_ERR);
	stage_close(&pair.stage);
	close(pair.socket);
}

/* Dies with all that it can hold of the other process. */
static void die_holding(struct pair *pair)
{
	struct soft_peer *peer = soft_peer_find(soft_image_slot(pair->there.number));
	struct soft_image *image;

	if (!peer)
		_exit(1);
	image = peer->arena->image;
	atomic_store(&image->lanes[soft_process.registry.slot].key[3], pair->there.rkey);
	soft_lock_take(&image->atomics);
	soft_lock_take(&image->qp[soft_image_index(pair->there.number)].queue.lock);
	for (uint32_t i = 1; i < 10; i++)
		soft_lock_take(&image->cq[i].lock);
	tell(pair->socket, "h", 1);
	pause();
}

/* Queues, atomics and deregistration go on when the holder of their locks is dead. */
static void end_holding(int signal)
{
	struct pair pair;
	union ibv_gid gid;
	char word;

	set_up(&pair, die_holding, &(struct stage_ways){0});
	hear(pair.socket, &word, 1);
	kill(pair.child, signal);
	waitpid(pair.child, NULL, WUNTRACED);
	/* From the second end to itself, where there is no peer. */
	gid = pair.there.gid;
	stage_connect(pair.stage.end[1].qp, &gid, pair.stage.end[1].qp->qp_num,
		      &(struct stage_ways){0});
	for (int i = 0; i < 2; i++) {
		struct ibv_sge sge = {(uintptr_t)pair.stage.buffer, 8, pair.stage.mr->lkey};
		struct ibv_send_wr wr = {
			.opcode = i ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED,
			.sg_list = &sge,
			.num_sge = 1,
		};
		struct ibv_send_wr *bad;

		wr.wr.atomic.remote_addr = (uintptr_t)pair.stage.end[1].buffer;
		wr.wr.atomic.rkey = pair.stage.mr->rkey;
		if (!i)
			stage_receive(&pair.stage, 64, 0);
		assert_int_equal(ibv_post_send(pair.stage.end[1].qp, &wr, &bad), 0);
		assert_int_equal(stage_await(pair.stage.end[1].cq).status, IBV_WC_SUCCESS);
	}
	assert_int_equal(stage_await(pair.stage.end[1].cq).status, IBV_WC_SUCCESS);
	/* Everything can be let go. */
	stage_close(&pair.stage);
	if (signal == SIGSTOP) {
		kill(pair.child, SIGKILL);
		waitpid(pair.child, NULL, 0);
	}
	close(pair.socket);
}

static void test_locks_of_one_that_is_killed(void **unused)
{
	end_holding(SIGKILL);
}

/* Whoever waits for it waits for a while only. */
static void test_locks_of_one_that_is_stopped(void **unused)
{
	end_holding(SIGSTOP);
}

/* False where the successor has another slot: the first one's was just being looked at. */
static bool try_a_successor(void)
{
	struct stage_ways ways = {.retry_cnt = 1};
	struct pair first;
	struct pair second;
	bool is_one;

	start(&second, sleep_until_told, &ways);
	set_up(&first, sleep_until_told, &ways);
	tell(first.socket, "e", 1);
	assert_int_equal(waitpid(first.child, NULL, 0), first.child);
	tell(second.socket, "g", 1);
	meet(&second, &ways);
	is_one = soft_image_slot(second.there.number) == soft_image_slot(first.there.number);
	assert_int_not_equal(second.there.number, first.there.number);
	post(&first, IBV_WR_RDMA_WRITE, 8);
	assert_int_equal(status(&first), IBV_WC_RETRY_EXC_ERR);
	post(&second, IBV_WR_RDMA_WRITE, 8);
	assert_int_equal(status(&second), IBV_WC_SUCCESS);
	tell(second.socket, "e", 1);
	tear_down(&second);
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
	struct stage open;
	struct pair pair;

	stage_open(&open, &(struct stage_ways){0});
	set_up(&pair, sleep_until_told, &(struct stage_ways){0});
	post(&pair, IBV_WR_RDMA_WRITE, LARGE);
	assert_int_equal(status(&pair), IBV_WC_SUCCESS);
	tell(pair.socket, "e", 1);
	tear_down(&pair);
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

	set_up(&pair, sleep_until_told, &(struct stage_ways){0});
	for (size_t size = 1; size < sizeof(garbage); size += 15) {
		int fd = knock(garbage, size);

		assert_int_equal(recv(fd, &answer, 1, 0), 0);
		close(fd);
	}
	post(&pair, IBV_WR_RDMA_WRITE, 8);
	assert_int_equal(status(&pair), IBV_WC_SUCCESS);
	tell(pair.socket, "e", 1);
	tear_down(&pair);
}

/* All its descriptors are used up, until it is told; then it is let have them again. */
static void use_up_descriptors(struct pair *pair)
{
	const struct rlimit few = {MANY_FILES, MANY_FILES};
	bool is_used[MANY_FILES] = {false};
	int fd;

	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	while ((fd = dup(pair->socket)) >= 0)
		is_used[fd] = true;
	tell(pair->socket, "u", 1);
	sleep_until_told(pair);
	for (fd = 0; fd < MANY_FILES; fd++)
		if (is_used[fd])
			close(fd);
	tell(pair->socket, "b", 1);
	sleep_until_told(pair);
}

/* Who knocks at one that cannot let anybody in is shown out, and does not wait. */
static void test_no_descriptor_left(void **unused)
{
	struct pair pair;
	char word;

	set_up(&pair, use_up_descriptors, &(struct stage_ways){0});
	hear(pair.socket, &word, 1);
	for (int i = 0; i < 3; i++) {
		int fd = knock_at(soft_image_slot(pair.there.number));

		assert_int_equal(recv(fd, &word, 1, 0), 0);
		close(fd);
	}
	tell(pair.socket, "e", 1);
	hear(pair.socket, &word, 1);
	post(&pair, IBV_WR_RDMA_WRITE, 8);
	assert_int_equal(status(&pair), IBV_WC_SUCCESS);
	tell(pair.socket, "e", 1);
	tear_down(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_a_target_that_sleeps, end_child),
		cmocka_unit_test_teardown(test_a_target_in_another_network, end_child),
		cmocka_unit_test_teardown(test_a_target_that_is_stopped, end_child),
		cmocka_unit_test_teardown(test_no_thread_is_busy, end_child),
		cmocka_unit_test_teardown(test_no_descriptor_left, end_child),
		cmocka_unit_test_teardown(test_messages_and_events, end_child),
		cmocka_unit_test_teardown(test_a_target_that_is_killed, end_child),
		cmocka_unit_test_teardown(test_locks_of_one_that_is_killed, end_child),
		cmocka_unit_test_teardown(test_locks_of_one_that_is_stopped, end_child),
		cmocka_unit_test_teardown(test_a_successor, end_child),
		cmocka_unit_test_teardown(test_a_forked_child, end_child),
		cmocka_unit_test_teardown(test_strangers, end_child),
	};

	whole = getpid();
	may_have_networks = network_prepare();
	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
