/* SPDX-License-Identifier: MIT */
/*
 * test_soft_fuzz [SEED [COUNT]]: sends mutated valid frames to a victim's door, copy server and
 * connections, while a friend of the victim writes, reads and counts. The friend's data must stay
 * correct, and only memory that is registered for the attacker may be read or changed. The frames
 * of each guest depend only on the seed and its number. Ends after COUNT guests or some seconds.
 */
#include <errno.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/soft/cm/socket.h"
#include "core/soft/peer/arena.h"
#include "core/soft/peer/copy_server.h"
#include "core/soft/time.h"
#include "core/test/soft/stage.h"
#include "core/test/soft/victim.h"

enum {
	COUNT = 3000,
	SECONDS = 20,
	FRAME_MAX = 320,
	REPLIES_MS = 2,
	FRIENDS_BYTES = 2048,
};

static struct victim victim;
static struct victim_report report;
static pid_t whole;
static uint64_t seed = 1;
static uint64_t first_seed = 1;
static unsigned long wanted = COUNT;

static uint64_t chance(uint64_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (seed >> 33) % below;
}

/* Returns a random value, half of the time an edge case. */
static uint64_t edge(void)
{
	const uint64_t edges[] = {
		0,
		1,
		victim.card.key,
		victim.card.local_key,
		victim.card.foreign_key,
		victim.card.address,
		victim.card.address - 1,
		victim.card.address + VICTIM_BYTES,
		victim.card.address + VICTIM_BYTES - 1,
		victim.card.friend_address,
		victim.card.slot,
		victim.card.port,
		SOFT_SLOTS,
		SOFT_QPS,
		SOFT_COPY_MAX,
		INT32_MAX,
		UINT32_MAX,
		UINT64_MAX - 7,
		UINT64_MAX,
	};

	return chance(2) ? edges[chance(ARRAY_LENGTH(edges))] : chance(UINT64_MAX);
}

/* Mutates a frame in place. Returns its size, which may change. */
static size_t mutate(unsigned char *frame, size_t size)
{
	for (uint64_t n = chance(4); n; n--) {
		uint64_t value = edge();
		size_t width = chance(2) ? 4 : 8;

		switch (chance(4)) {
		case 0:
			frame[chance(size)] ^= (unsigned char)(1 << chance(8));
			break;
		case 1:
		case 2:
			/* A field, at a multiple of four. */
			if (size >= width)
				memcpy(frame + chance((size - width) / 4 + 1) * 4, &value, width);
			break;
		default:
			size = 1 + chance(FRAME_MAX);
		}
	}
	return size;
}

static size_t greet(unsigned char *frame, uint32_t kind)
{
	struct soft_message message = victim_message(&victim, kind);

	memcpy(frame, &message, sizeof(message));
	return sizeof(message);
}

static size_t ask(unsigned char *frame)
{
	bool is_to = chance(2);
	struct soft_copy_request request = {
		.magic = SOFT_COPY_MAGIC,
		.kind = is_to ? SOFT_COPY_TO : SOFT_COPY_FROM,
		.qp = victim.card.qp,
		.access = is_to ? IBV_ACCESS_REMOTE_WRITE : IBV_ACCESS_REMOTE_READ,
		.key = victim.card.key,
		.length = 1 + (uint32_t)chance(200),
		.address = victim.card.address + chance(VICTIM_BYTES - 200),
	};

	memcpy(frame, &request, sizeof(request));
	return sizeof(request) + (is_to ? request.length : 0);
}

static size_t connect_to(unsigned char *frame)
{
	struct soft_cm_message message = {
		.magic = SOFT_CM_MAGIC,
		.kind = SOFT_CM_REQUEST + (uint32_t)chance(2) * (uint32_t)chance(6),
		.port = victim.card.port,
		.space = RDMA_PS_TCP,
		.from = {.family = AF_INET, .gid = victim.card.gid},
		.to = {.family = AF_INET, .gid = victim.card.gid},
		.data_length = (uint8_t)chance(196),
	};
	size_t size = sizeof(message) < FRAME_MAX ? sizeof(message) : FRAME_MAX;

	memcpy(frame, &message, size);
	return size;
}

/* Returns whether the connection is open. Answers must not contain unregistered memory. */
static bool is_open(int fd, int patience_ms)
{
	static unsigned char answer[FRAME_MAX];
	static const unsigned char marks[] = {VICTIM_MARK, VICTIM_MARK, VICTIM_MARK, VICTIM_MARK,
					      VICTIM_MARK, VICTIM_MARK, VICTIM_MARK, VICTIM_MARK};
	struct pollfd readable = {.fd = fd, .events = POLLIN};

	while (poll(&readable, 1, patience_ms) == 1) {
		ssize_t size = recv(fd, answer, sizeof(answer), MSG_DONTWAIT);

		if (size <= 0)
			return false;
		assert_null(memmem(answer, (size_t)size, marks, sizeof(marks)));
	}
	return true;
}

static unsigned long say(int fd, unsigned char *frame, size_t size)
{
	return send(fd, frame, mutate(frame, size), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

/* Connects a guest that sends some frames. Returns the number of frames. */
static unsigned long connection(unsigned long number)
{
	static const uint32_t kinds[] = {SOFT_MESSAGE_HELLO, SOFT_MESSAGE_CONNECTION,
					 SOFT_MESSAGE_COPY, SOFT_MESSAGE_COPY};
	unsigned char frame[FRAME_MAX] = {0};
	uint32_t kind;
	int fd = victim_knock(&victim);
	unsigned long count = 1;

	seed = first_seed * 1000003 + number;
	kind = kinds[chance(ARRAY_LENGTH(kinds))];
	/* Most greetings are valid, so that more frames are processed. */
	if (chance(8))
		send(fd, frame, greet(frame, kind), MSG_NOSIGNAL | MSG_DONTWAIT);
	else
		say(fd, frame, greet(frame, kind));
	for (uint64_t n = chance(12); n && is_open(fd, chance(2) ? REPLIES_MS : 0); n--) {
		if (kind == SOFT_MESSAGE_COPY)
			count += say(fd, frame, ask(frame));
		else if (kind == SOFT_MESSAGE_CONNECTION)
			count += say(fd, frame, connect_to(frame));
		else
			count += say(fd, frame, greet(frame, kind));
	}
	close(fd);
	return count;
}

static void do_one(struct stage *stage, const struct victim_card *card, enum ibv_wr_opcode opcode)
{
	struct ibv_sge sge = {(uintptr_t)stage->end[0].buffer, FRIENDS_BYTES, stage->mr->lkey};
	struct ibv_send_wr wr = {
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
	};

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		sge.length = sizeof(uint64_t);
		wr.wr.atomic.remote_addr = card->friend_address + FRIENDS_BYTES;
		wr.wr.atomic.compare_add = 1;
		wr.wr.atomic.rkey = card->friend_key;
	} else {
		wr.wr.rdma.remote_addr = card->friend_address;
		wr.wr.rdma.rkey = card->friend_key;
	}
	assert_int_equal(stage_post(stage, &wr, 0), 0);
	assert_int_equal(stage_await(stage->end[0].cq).status, IBV_WC_SUCCESS);
}

static void do_round(struct stage *stage, const struct victim_card *card, uint64_t count)
{
	unsigned char *buffer = stage->end[0].buffer;
	uint64_t number;

	memset(buffer, (int)count, FRIENDS_BYTES);
	do_one(stage, card, IBV_WR_RDMA_WRITE);
	memset(buffer, ~(int)count, FRIENDS_BYTES);
	do_one(stage, card, IBV_WR_RDMA_READ);
	for (int i = 0; i < FRIENDS_BYTES; i++)
		assert_int_equal(buffer[i], (uint8_t)count);
	do_one(stage, card, IBV_WR_ATOMIC_FETCH_AND_ADD);
	memcpy(&number, buffer, sizeof(number));
	/* The initial value is eight fill bytes. */
	assert_int_equal(number, VICTIM_FILL * UINT64_C(0x0101010101010101) + count);
}

/* Writes, reads and counts until the test ends it, then sends the number of rounds. */
static void be_friend(int socket)
{
	const struct stage_ways ways = {.is_apart = true, .retry_cnt = 7, .rnr_retry = 7};
	struct pollfd end = {.fd = socket, .events = POLLIN};
	struct victim_card card;
	struct stage stage;
	uint64_t count = 0;
	char word;

	if (recv(socket, &card, sizeof(card), MSG_WAITALL) != sizeof(card))
		_exit(1);
	stage_open(&stage, &ways);
	stage_connect(stage.end[0].qp, &card.gid, card.friend_qp, &ways);
	if (send(socket, &stage.end[0].qp->qp_num, sizeof(uint32_t), 0) != sizeof(uint32_t) ||
	    recv(socket, &word, 1, 0) != 1)
		_exit(1);
	while (!poll(&end, 1, 0))
		do_round(&stage, &card, count++);
	stage_close(&stage);
	_exit(send(socket, &count, sizeof(count), 0) != sizeof(count));
}

static pid_t invite(int *socket)
{
	uint32_t number;
	int ends[2];
	pid_t child;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	child = fork();
	if (!child) {
		close(ends[0]);
		be_friend(ends[1]);
	}
	close(ends[1]);
	*socket = ends[0];
	assert_int_equal(send(*socket, &victim.card, sizeof(victim.card), 0), sizeof(victim.card));
	assert_int_equal(recv(*socket, &number, sizeof(number), MSG_WAITALL), sizeof(number));
	victim_order(&victim, VICTIM_FRIEND, number, &report);
	assert_int_equal(send(*socket, "g", 1, 0), 1);
	return child;
}

static void test_random_frames(void **unused)
{
	uint64_t end_ns = soft_time_ns() + SECONDS * SOFT_SECOND_NS;
	unsigned long frames = 0;
	unsigned long guest = 0;
	uint64_t rounds;
	int status;
	int socket;
	pid_t child;

	victim_start(&victim);
	child = invite(&socket);
	while (guest < wanted && soft_time_ns() < end_ns)
		frames += connection(guest++);
	assert_int_equal(send(socket, "e", 1, MSG_NOSIGNAL), 1);
	assert_int_equal(recv(socket, &rounds, sizeof(rounds), MSG_WAITALL), sizeof(rounds));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	print_message("# seed %lu: %lu guests, %lu frames; %lu rounds of the friend\n", first_seed,
		      guest, frames, rounds);
	assert_true(frames > guest && rounds > 0);
	victim_order(&victim, VICTIM_LOOK, 0, &report);
	assert_true(report.is_intact);
	close(socket);
	victim_end(&victim);
}

static int end_child(void **state)
{
	if (getpid() != whole)
		_exit(1);
	return 0;
}

int main(int count, char **words)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_random_frames, end_child),
	};

	whole = getpid();
	if (count > 1)
		first_seed = strtoul(words[1], NULL, 10);
	if (count > 2)
		wanted = strtoul(words[2], NULL, 10);
	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
