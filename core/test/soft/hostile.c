/* SPDX-License-Identifier: MIT */
/*
 * Attacks by a process of the same user, frame by frame. The test is the attacker. After each
 * attack, the victim must have leaked nothing, be unchanged, and serve others.
 */
#include <errno.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/soft/cm/socket.h"
#include "core/soft/peer/arena.h"
#include "core/soft/peer/copy_server.h"
#include "core/test/soft/stage.h"
#include "core/test/soft/victim.h"

enum {
	PATIENCE_MS = 20000,
	MANY = 200,
};

static struct victim victim;
static struct victim_report before;
static struct victim_report after;
static pid_t whole;

static void put(int fd, const void *what, size_t size)
{
	assert_int_equal(send(fd, what, size, MSG_NOSIGNAL), (ssize_t)size);
}

static int connect_copy_server(void)
{
	const struct soft_message copies = victim_message(&victim, SOFT_MESSAGE_COPY);
	int fd = victim_knock(&victim);

	put(fd, &copies, sizeof(copies));
	return fd;
}

/* Starts the victim, and a first client that makes it start its copy server. */
static int begin(void **state)
{
	int fd;

	victim_start(&victim);
	fd = connect_copy_server();
	put(fd, "garbage", 7);
	assert_true(victim_is_shut(fd));
	close(fd);
	victim_order(&victim, VICTIM_LOOK, 0, &before);
	return 0;
}

/* Ends the victim, or a child whose assertion failed; cmocka has reported the failure. */
static int finish(void **state)
{
	if (getpid() != whole)
		_exit(1);
	victim_end(&victim);
	return 0;
}

/* Returns the next message and its descriptors. */
static struct soft_message await(int fd, int *fds)
{
	struct pollfd readable = {.fd = fd, .events = POLLIN};
	struct soft_message message = {0};

	assert_int_equal(poll(&readable, 1, PATIENCE_MS), 1);
	assert_int_equal(soft_message_receive(fd, &message, fds), 0);
	return message;
}

/* Performs a valid handshake. Returns the socket, and maps the victim's arena. */
static int say_hello(struct soft_arena *arena)
{
	struct soft_message hello = victim_message(&victim, SOFT_MESSAGE_HELLO);
	int fds[SOFT_MESSAGE_FDS];
	int fd = victim_knock(&victim);

	put(fd, &hello, sizeof(hello));
	while (await(fd, fds).kind != SOFT_MESSAGE_HELLO)
		close(fds[0]);
	assert_int_equal(soft_arena_map(arena, fds[0], fds[2]), 0);
	close(fds[1]);
	return fd;
}

/* Checks that the victim serves others, leaked no descriptors, and has its memory unchanged. */
static void check_victim(void)
{
	struct soft_arena arena;
	int fd = say_hello(&arena);
	int status;

	soft_arena_finish(&arena);
	close(fd);
	/* The victim may not have noticed the end of the last client yet. */
	for (int i = 0; i < 1000; i++) {
		victim_order(&victim, VICTIM_LOOK, 0, &after);
		if (after.fds <= before.fds)
			break;
		usleep(1000);
	}
	assert_int_equal(after.fds, before.fds);
	assert_true(after.is_intact);
	assert_memory_equal(after.memory, before.memory, VICTIM_BYTES);
	assert_int_equal(waitpid(victim.pid, &status, WNOHANG), 0);
}

static void check_refused(const char *what, const void *frame, size_t size)
{
	int fd = victim_knock(&victim);

	print_message("# %s\n", what);
	put(fd, frame, size);
	assert_true(victim_is_shut(fd));
	close(fd);
}

static void test_greetings(void **unused)
{
	const struct soft_message hello = victim_message(&victim, SOFT_MESSAGE_HELLO);
	struct {
		struct soft_message message;
		char more[64];
	} frame = {.message = hello};
	const struct {
		const char *what;
		size_t offset;
		uint32_t value;
	} rows[] = {
		{"wrong magic",               offsetof(struct soft_message, magic),      1                   },
		{"kind 0",                    offsetof(struct soft_message, kind),       0                   },
		{"unknown kind",              offsetof(struct soft_message, kind),       77                  },
		{"channel from a guest",      offsetof(struct soft_message, kind),       SOFT_MESSAGE_CHANNEL},
		{"slot 0",                    offsetof(struct soft_message, slot),       0                   },
		{"first slot past the table", offsetof(struct soft_message, slot),       SOFT_SLOTS          },
		{"highest slot number",       offsetof(struct soft_message, slot),       UINT32_MAX          },
		{"victim's own slot",         offsetof(struct soft_message, slot),       victim.card.slot    },
		{"unused slot",               offsetof(struct soft_message, slot),       1000                },
		{"previous generation",       offsetof(struct soft_message, generation),
		 hello.generation - 1									},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		frame.message = hello;
		memcpy((char *)&frame + rows[i].offset, &rows[i].value, sizeof(rows[i].value));
		check_refused(rows[i].what, &frame, sizeof(frame.message));
	}
	frame.message = hello;
	for (size_t size = 1; size < sizeof(frame); size++)
		if (size != sizeof(hello))
			check_refused("wrong size", &frame, size);
	check_victim();
}

static void test_second_hello(void **unused)
{
	const struct soft_message hello = victim_message(&victim, SOFT_MESSAGE_HELLO);
	struct soft_arena arena;
	int fd = say_hello(&arena);

	put(fd, &hello, sizeof(hello));
	assert_true(victim_is_shut(fd));
	close(fd);
	soft_arena_finish(&arena);
	check_victim();
}

/* A second connection of a process replaces the first. */
static void test_second_connection(void **unused)
{
	struct soft_arena first;
	struct soft_arena second;
	int fd = say_hello(&first);
	int again = say_hello(&second);

	assert_true(victim_is_shut(fd));
	close(fd);
	close(again);
	soft_arena_finish(&first);
	soft_arena_finish(&second);
	check_victim();
}

static ssize_t send_with_fds(int fd, const void *frame, size_t size, unsigned int count)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(MANY * sizeof(int))];
	} control = {.room = {0}};
	struct iovec data = {(void *)(uintptr_t)frame, size};
	struct msghdr header = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = CMSG_SPACE(count * sizeof(int)),
	};
	int *at = (int *)(void *)CMSG_DATA(&control.header);

	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(count * sizeof(int));
	for (unsigned int i = 0; i < count; i++)
		at[i] = STDERR_FILENO;
	return sendmsg(fd, &header, MSG_NOSIGNAL);
}

/* Unexpected descriptors are closed, with any kind of message. */
static void test_descriptors(void **unused)
{
	static const unsigned int counts[] = {1, 3, 4, MANY};
	static const uint32_t kinds[] = {0, SOFT_MESSAGE_CHANNEL, SOFT_MESSAGE_CONNECTION,
					 SOFT_MESSAGE_COPY};

	for (size_t i = 0; i < ARRAY_LENGTH(counts); i++) {
		for (size_t j = 0; j < ARRAY_LENGTH(kinds); j++) {
			struct soft_message message = victim_message(&victim, kinds[j]);
			int fd = victim_knock(&victim);

			assert_int_equal(send_with_fds(fd, &message, sizeof(message), counts[i]),
					 (ssize_t)sizeof(message));
			/* Send more to the next stage, unless the victim has closed the socket. */
			if (kinds[j] >= SOFT_MESSAGE_CONNECTION &&
			    send_with_fds(fd, "garbage", 7, counts[i]) < 0)
				assert_true(errno == EPIPE || errno == ECONNRESET);
			assert_true(victim_is_shut(fd));
			close(fd);
		}
	}
	check_victim();
}

static int connect_link(void)
{
	const struct soft_message connection = victim_message(&victim, SOFT_MESSAGE_CONNECTION);
	int fd = victim_knock(&victim);

	put(fd, &connection, sizeof(connection));
	return fd;
}

static struct soft_cm_message request(void)
{
	return (struct soft_cm_message){
		.magic = SOFT_CM_MAGIC,
		.kind = SOFT_CM_REQUEST,
		.port = victim.card.port,
		.space = RDMA_PS_TCP,
		.from = {.family = AF_INET, .gid = victim.card.gid},
		.to = {.family = AF_INET, .gid = victim.card.gid},
	};
}

static void test_invalid_connection_requests(void **unused)
{
	const struct soft_cm_message good = request();
	const struct {
		const char *what;
		size_t offset;
		size_t size;
		uint8_t value;
		bool is_answered;
	} rows[] = {
		{"wrong magic",           offsetof(struct soft_cm_message, magic),       sizeof(good), 1,   false},
		{"data length too large", offsetof(struct soft_cm_message, data_length),
		 sizeof(good),									 197, false},
		{"reply without request", offsetof(struct soft_cm_message, kind),        sizeof(good),
		 SOFT_CM_REPLY,									     false},
		{"kind 0",                offsetof(struct soft_cm_message, kind),        sizeof(good), 0,   false},
		{"truncated message",     offsetof(struct soft_cm_message, tos),         100,          0,   false},
		{"unused port",           offsetof(struct soft_cm_message, port) + 2,    sizeof(good), 1,   true },
		{"other port space",      offsetof(struct soft_cm_message, space),       sizeof(good), 1,
		 true											    },
		{"other address",         offsetof(struct soft_cm_message, to.gid),      sizeof(good), 1,   true },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct soft_cm_message message = good;
		int fd = connect_link();

		print_message("# %s\n", rows[i].what);
		memcpy((char *)&message + rows[i].offset, &rows[i].value, 1);
		put(fd, &message, rows[i].size);
		if (rows[i].is_answered) {
			assert_int_equal(recv(fd, &message, sizeof(message), 0), sizeof(message));
			assert_int_equal(message.kind, SOFT_CM_REJECT);
		}
		assert_true(victim_is_shut(fd));
		close(fd);
	}
	check_victim();
}

/* A client that sends without pause does not keep others from being served. */
static void test_flood(void **unused)
{
	const struct soft_cm_message good = request();
	pid_t child;
	int status;
	int fd = connect_link();

	put(fd, &good, sizeof(good));
	child = fork();
	if (!child)
		for (;;)
			if (send(fd, &good, sizeof(good), MSG_NOSIGNAL) < 0)
				_exit(0);
	for (int i = 0; i < 20; i++) {
		struct soft_arena arena;
		int other = say_hello(&arena);

		soft_arena_finish(&arena);
		close(other);
	}
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	close(fd);
	check_victim();
}

struct frame {
	struct soft_copy_request request;
	char data[SOFT_COPY_MAX + 1];
};

/* Sends a request. Returns the copy server's result; its data is in the frame. */
static int ask(int fd, struct frame *frame, size_t size, size_t wanted)
{
	struct soft_copy_answer answer;
	struct iovec parts[] = {
		{&answer,     sizeof(answer)     },
                {frame->data, sizeof(frame->data)}
        };
	struct msghdr header = {.msg_iov = parts, .msg_iovlen = 2};

	put(fd, frame, size);
	assert_int_equal(recvmsg(fd, &header, 0), sizeof(answer) + wanted);
	assert_int_equal(answer.magic, SOFT_COPY_MAGIC);
	return answer.result;
}

static struct soft_copy_request copy_request(enum soft_copy_kind kind)
{
	return (struct soft_copy_request){
		.magic = SOFT_COPY_MAGIC,
		.kind = kind,
		.qp = victim.card.qp,
		.access = kind == SOFT_COPY_TO ? IBV_ACCESS_REMOTE_WRITE : IBV_ACCESS_REMOTE_READ,
		.key = victim.card.key,
		.length = 16,
		.address = victim.card.address,
	};
}

/* Valid copies change exactly the memory they name. */
static void test_copies(void **unused)
{
	static struct frame frame;
	int fd = connect_copy_server();

	frame.request = copy_request(SOFT_COPY_TO);
	frame.request.address += 4088;
	memset(frame.data, 'a', 16);
	assert_int_equal(ask(fd, &frame, sizeof(frame.request) + 16, 0), 0);
	memset(before.memory + 4088, 'a', 16);
	frame.request = copy_request(SOFT_COPY_FROM);
	frame.request.address += 4080;
	frame.request.length = 32;
	assert_int_equal(ask(fd, &frame, sizeof(frame.request), 32), 0);
	assert_memory_equal(frame.data, before.memory + 4080, 32);
	/* Up to the last byte. */
	frame.request = copy_request(SOFT_COPY_TO);
	frame.request.address += VICTIM_BYTES - SOFT_COPY_MAX;
	frame.request.length = SOFT_COPY_MAX;
	memset(frame.data, 'b', SOFT_COPY_MAX);
	assert_int_equal(ask(fd, &frame, sizeof(frame.request) + SOFT_COPY_MAX, 0), 0);
	memset(before.memory + VICTIM_BYTES - SOFT_COPY_MAX, 'b', SOFT_COPY_MAX);
	close(fd);
	check_victim();
}

static void test_forbidden_copies(void **unused)
{
	const struct victim_card *card = &victim.card;
	const uint64_t end = card->address + VICTIM_BYTES;
	const struct {
		const char *what;
		uint32_t key;
		uint32_t qp;
		uint64_t address;
		int result;
	} rows[] = {
		{"key 0",                        0,                 card->qp,                          card->address,        -EACCES},
		{"next key",                     card->key + 1,     card->qp,                          card->address,        -EACCES},
		{"unused region",                0xffff0001,        card->qp,                          card->address,        -EACCES},
		{"region without remote access", card->local_key,   card->qp,                          card->address,        -EACCES},
		{"other protection domain",      card->foreign_key, card->qp,                          card->address,        -EACCES},
		{"friend's memory",              card->friend_key,  card->qp,                          card->friend_address, -EACCES},
		{"one byte before the start",    card->key,         card->qp,                          card->address - 1,    -EACCES},
		{"one byte past the end",        card->key,         card->qp,                          end - 15,             -EACCES},
		{"past the end",                 card->key,         card->qp,                          end,                  -EACCES},
		{"address 0",                    card->key,         card->qp,                          0,                    -EACCES},
		{"address range wraps around",   card->key,         card->qp,                          UINT64_MAX - 7,       -EACCES},
		{"unconnected queue pair",       card->key,         card->lonely_qp,                   card->address,        -ESRCH },
		{"friend's queue pair",          card->friend_key,  soft_image_index(card->friend_qp),
		 card->friend_address,										       -ESRCH },
		{"unused queue pair",            card->key,         SOFT_QPS - 1,                      card->address,        -ESRCH },
	};
	static struct frame frame;
	int fd = connect_copy_server();

	for (size_t i = 0; i < 2 * ARRAY_LENGTH(rows); i++) {
		bool is_to = i % 2;

		print_message("# %s\n", rows[i / 2].what);
		frame.request = copy_request(is_to ? SOFT_COPY_TO : SOFT_COPY_FROM);
		frame.request.key = rows[i / 2].key;
		frame.request.qp = rows[i / 2].qp;
		frame.request.address = rows[i / 2].address;
		assert_int_equal(ask(fd, &frame, sizeof(frame.request) + (is_to ? 16 : 0), 0),
				 rows[i / 2].result);
	}
	/* Local access would apply if the copy were for a receive. */
	frame.request = copy_request(SOFT_COPY_TO);
	frame.request.access = IBV_ACCESS_LOCAL_WRITE;
	frame.request.key = card->local_key;
	assert_int_equal(ask(fd, &frame, sizeof(frame.request) + 16, 0), -EACCES);
	close(fd);
	check_victim();
}

static void test_invalid_copy_requests(void **unused)
{
	const struct soft_copy_request to = copy_request(SOFT_COPY_TO);
	const struct {
		const char *what;
		size_t offset;
		uint32_t value;
		size_t size;
	} rows[] = {
		{"wrong magic",               offsetof(struct soft_copy_request, magic),  1,                 sizeof(to) + 16},
		{"kind 0",                    offsetof(struct soft_copy_request, kind),   0,                 sizeof(to) + 16},
		{"read with write access",    offsetof(struct soft_copy_request, kind),   SOFT_COPY_FROM,
		 sizeof(to)												 },
		{"no access",                 offsetof(struct soft_copy_request, access), 0,                 sizeof(to) + 16},
		{"all access flags",          offsetof(struct soft_copy_request, access), UINT32_MAX,
		 sizeof(to) + 16											    },
		{"atomic of 16 bytes",        offsetof(struct soft_copy_request, access),
		 IBV_ACCESS_REMOTE_ATOMIC,								   sizeof(to) + 16},
		{"zero bytes",                offsetof(struct soft_copy_request, length), 0,                 sizeof(to)     },
		{"too many bytes",            offsetof(struct soft_copy_request, length), SOFT_COPY_MAX + 1,
		 sizeof(to) + SOFT_COPY_MAX + 1									     },
		{"maximum length",            offsetof(struct soft_copy_request, length), UINT32_MAX,
		 sizeof(to) + 16											    },
		{"less data than the length", offsetof(struct soft_copy_request, length), 17,
		 sizeof(to) + 16											    },
		{"more data than the length", offsetof(struct soft_copy_request, length), 15,
		 sizeof(to) + 16											    },
		{"no data",                   offsetof(struct soft_copy_request, length), 16,                sizeof(to)     },
		{"truncated request",         offsetof(struct soft_copy_request, length), 16,
		 sizeof(to) - 9											     },
		{"queue pair past the table", offsetof(struct soft_copy_request, qp),     SOFT_QPS,
		 sizeof(to) + 16											    },
	};
	static struct frame frame;

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		int fd = connect_copy_server();

		print_message("# %s\n", rows[i].what);
		frame.request = to;
		memcpy((char *)&frame + rows[i].offset, &rows[i].value, sizeof(rows[i].value));
		put(fd, &frame, rows[i].size);
		assert_true(victim_is_shut(fd));
		close(fd);
	}
	check_victim();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_greetings, begin, finish),
		cmocka_unit_test_setup_teardown(test_second_hello, begin, finish),
		cmocka_unit_test_setup_teardown(test_second_connection, begin, finish),
		cmocka_unit_test_setup_teardown(test_descriptors, begin, finish),
		cmocka_unit_test_setup_teardown(test_invalid_connection_requests, begin, finish),
		cmocka_unit_test_setup_teardown(test_flood, begin, finish),
		cmocka_unit_test_setup_teardown(test_copies, begin, finish),
		cmocka_unit_test_setup_teardown(test_forbidden_copies, begin, finish),
		cmocka_unit_test_setup_teardown(test_invalid_copy_requests, begin, finish),
	};

	whole = getpid();
	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
