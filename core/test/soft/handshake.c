/* SPDX-License-Identifier: MIT */
/*
 * The handshake with another process that dies, stops or changes at the worst moment. This test
 * overrides the C library's functions at which that may happen.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <rdma/rdma_cma.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/soft/cm/port.h"
#include "core/soft/cm/socket.h"
#include "core/soft/op/event.h"
#include "core/soft/peer/message.h"
#include "core/soft/peer/peer.h"
#include "core/soft/peer/process.h"
#include "core/soft/time.h"
#include "core/test/soft/stage.h"

enum {
	PATIENCE_S = 20,
	BYTES = 5000, /* not in one page */
	FEW = 64,
};

/* Another process with the device open: a child that acts on orders. */
struct other {
	pid_t pid;
	int socket;
	struct card {
		uint32_t number; /* of its queue pair */
		uint32_t rkey;
		uint64_t address;
		union ibv_gid gid;
	} card;
};

static pid_t whole;

/* Ends a child whose assertion failed; cmocka has reported the failure. */
static int end_child(void **state)
{
	if (getpid() != whole)
		_exit(1);
	return 0;
}

static void send_all(int socket, const void *data, size_t size)
{
	assert_int_equal(send(socket, data, size, MSG_NOSIGNAL), (ssize_t)size);
}

static void receive_all(int socket, void *data, size_t size)
{
	assert_int_equal(recv(socket, data, size, MSG_WAITALL), (ssize_t)size);
}

static struct card card_of(const struct stage *stage)
{
	struct card card = {
		.number = stage->end[0].qp->qp_num,
		.rkey = stage->mr->rkey,
		.address = (uintptr_t)stage->end[0].buffer,
	};

	assert_int_equal(ibv_query_gid(stage->context, 1, 0, &card.gid), 0);
	return card;
}

/* Connects a queue pair, which may be connected already. */
static void connect_to(struct stage *stage, const struct card *card)
{
	struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};

	assert_int_equal(ibv_modify_qp(stage->end[0].qp, &reset, IBV_QP_STATE), 0);
	stage_connect(stage->end[0].qp, &card->gid, card->number, &(struct stage_ways){0});
}

/* Sends its card, and connects to each card that it receives; ends at a card without a number. */
static void be_other(int socket)
{
	struct stage stage;
	struct card card;

	stage_open(&stage, &(struct stage_ways){.is_apart = true});
	card = card_of(&stage);
	send_all(socket, &card, sizeof(card));
	for (;;) {
		receive_all(socket, &card, sizeof(card));
		if (!card.number)
			break;
		connect_to(&stage, &card);
		send_all(socket, "c", 1);
	}
	stage_close(&stage);
	_exit(0);
}

/* Starts the other process. Must be called before this process opens the device. */
static void start(struct other *other)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	other->pid = fork();
	assert_true(other->pid >= 0);
	other->socket = ends[!other->pid];
	close(ends[!!other->pid]);
	if (!other->pid)
		be_other(other->socket);
	receive_all(other->socket, &other->card, sizeof(other->card));
}

/* Makes process_vm_readv fail with EPERM. */
static bool is_kept_out;

/* Number of calls of process_vm_readv. */
static unsigned int asked;

ssize_t process_vm_readv(pid_t pid, const struct iovec *here, unsigned long here_count,
			 const struct iovec *there, unsigned long there_count, unsigned long flags)
{
	asked++;
	if (!is_kept_out)
		return syscall(SYS_process_vm_readv, pid, here, here_count, there, there_count,
			       flags);
	errno = EPERM;
	return -1;
}

/* The process whose memory is opened for /proc/PID/mem: PID itself, none, or this one. */
static enum {
	ITS,
	NOBODYS,
	OURS
} whose;

/* Number of times that /proc/PID/mem was opened. */
static unsigned int opened;

int open64(const char *path, int flags, ...)
{
	mode_t mode;
	va_list more;

	va_start(more, flags);
	mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
	va_end(more);
	if (!strncmp(path, "/proc/", 6) && strlen(path) > 4 &&
	    !strcmp(path + strlen(path) - 4, "/mem")) {
		opened++;
		if (whose == NOBODYS) {
			errno = ENOENT;
			return -1;
		}
		if (whose == OURS)
			path = "/proc/self/mem";
	}
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/* The process to kill as soon as the service thread watches it; 0: none. */
static _Atomic pid_t doomed;

static void await_closed(int fd)
{
	uint64_t deadline_ns = soft_time_ns() + PATIENCE_S * SOFT_SECOND_NS;

	while (fcntl(fd, F_GETFD) >= 0) {
		assert_true(soft_time_ns() < deadline_ns);
		usleep(1000);
	}
}

int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
	int (*real)(int, int, int, struct epoll_event *) =
		(int (*)(int, int, int, struct epoll_event *))dlsym(RTLD_NEXT, "epoll_ctl");
	int result = real(epoll, operation, fd, event);

	if (doomed && operation == EPOLL_CTL_ADD && !soft_service_is_this_thread()) {
		kill(doomed, SIGKILL);
		waitpid(doomed, NULL, 0);
		doomed = 0;
		/* Wait until the service thread notices the death and forgets the process. */
		await_closed(fd);
	}
	return result;
}

/* A process that dies during the handshake stays unknown, and its freed state is not used. */
static void test_peer_dies_during_handshake(void **unused)
{
	struct ibv_context *context;
	struct other other;
	uint32_t slot;

	start(&other);
	context = stage_open_device();
	slot = soft_image_slot(other.card.number);
	doomed = other.pid;
	assert_null(soft_peer_find(slot));
	assert_int_equal(doomed, 0);
	assert_null(atomic_load(&soft_process.peer[slot]));
	assert_null(soft_peer_find(slot));
	close(other.socket);
	assert_int_equal(ibv_close_device(context), 0);
}

/* The entry of the port table that is reused while a thread waits for the lock. */
static uint32_t reused;

int sched_yield(void)
{
	if (reused) {
		soft_process.registry.file->port[reused].port++;
		reused = 0;
		soft_lock_release(&soft_process.registry.file->lock);
	}
	return (int)syscall(SYS_sched_yield);
}

/* Looking up a port returns its listener or none, but not the listener of another port. */
static void test_port_entry_is_reused(void **unused)
{
	struct ibv_context *context = stage_open_device();
	struct soft_cm_claim claim = {.space = RDMA_PS_TCP, .address.family = AF_INET};
	uint32_t slot;
	uint32_t entry;
	uint32_t found;

	assert_int_equal(ibv_query_gid(context, 1, 0, &claim.address.gid), 0);
	assert_int_equal(soft_cm_port_take(&claim, &entry), 0);
	assert_int_equal(soft_cm_port_listen(entry), 0);
	assert_int_equal(soft_cm_port_find(&claim.address, RDMA_PS_TCP, &slot, &found), 0);
	assert_int_equal(found, entry);
	soft_lock_take(&soft_process.registry.file->lock);
	reused = entry;
	assert_int_equal(soft_cm_port_find(&claim.address, RDMA_PS_TCP, &slot, &found),
			 -ECONNREFUSED);
	assert_int_equal(reused, 0);
	soft_cm_port_release(entry);
	assert_int_equal(ibv_close_device(context), 0);
}

static void end(const struct other *other)
{
	const struct card none = {.number = 0};
	int result;

	send_all(other->socket, &none, sizeof(none));
	assert_int_equal(waitpid(other->pid, &result, 0), other->pid);
	assert_int_equal(result, 0);
	close(other->socket);
}

static void connect_both(struct stage *stage, const struct other *other)
{
	const struct card card = card_of(stage);
	char word;

	send_all(other->socket, &card, sizeof(card));
	connect_to(stage, &other->card);
	receive_all(other->socket, &word, 1);
}

static enum ibv_wc_status copy(struct stage *stage, const struct other *other,
			       enum ibv_wr_opcode opcode, uint32_t bytes)
{
	struct ibv_send_wr wr = {.opcode = opcode, .send_flags = IBV_SEND_SIGNALED};

	wr.wr.rdma.remote_addr = other->card.address;
	wr.wr.rdma.rkey = other->card.rkey;
	assert_int_equal(stage_post(stage, &wr, bytes), 0);
	return stage_await(stage->end[0].cq).status;
}

static void write_and_read(struct stage *stage, const struct other *other, uint32_t bytes,
			   int value)
{
	unsigned char *buffer = stage->end[0].buffer;

	memset(buffer, value, bytes);
	assert_int_equal(copy(stage, other, IBV_WR_RDMA_WRITE, bytes), IBV_WC_SUCCESS);
	memset(buffer, 0, bytes);
	assert_int_equal(copy(stage, other, IBV_WR_RDMA_READ, bytes), IBV_WC_SUCCESS);
	for (uint32_t i = 0; i < bytes; i++)
		assert_int_equal(buffer[i], value);
}

static void await_left(uint32_t slot)
{
	uint64_t deadline_ns = soft_time_ns() + PATIENCE_S * SOFT_SECOND_NS;

	while (atomic_load(&soft_process.peer[slot])) {
		assert_true(soft_time_ns() < deadline_ns);
		usleep(1000);
	}
}

/* The copy server of a stopped process does not answer; after it continues, copies work again. */
static void test_peer_is_stopped(void **unused)
{
	struct other other;
	struct stage stage;
	int result;

	start(&other);
	is_kept_out = true;
	stage_open(&stage, &(struct stage_ways){.is_apart = true});
	connect_both(&stage, &other);
	assert_non_null(soft_peer_find(soft_image_slot(other.card.number))->copy_client);
	write_and_read(&stage, &other, BYTES, 1);
	kill(other.pid, SIGSTOP);
	assert_int_equal(waitpid(other.pid, &result, WUNTRACED), other.pid);
	assert_int_equal(copy(&stage, &other, IBV_WR_RDMA_READ, BYTES), IBV_WC_RETRY_EXC_ERR);
	kill(other.pid, SIGCONT);
	await_left(soft_image_slot(other.card.number));
	connect_both(&stage, &other);
	write_and_read(&stage, &other, BYTES, 2);
	stage_close(&stage);
	is_kept_out = false;
	end(&other);
}

static bool can_open_memory(pid_t pid)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Copies within a page use /proc/PID/mem, but only if it is the memory of that process. */
static void test_memory_file_of_peer(void **unused)
{
	struct other other;
	struct stage stage;
	const struct soft_peer *peer;
	unsigned int others;

	for (whose = ITS; whose <= OURS; whose++) {
		start(&other);
		opened = 0;
		stage_open(&stage, &(struct stage_ways){.is_apart = true});
		connect_both(&stage, &other);
		peer = soft_peer_find(soft_image_slot(other.card.number));
		assert_non_null(peer);
		assert_int_equal(opened, 1);
		assert_int_equal(peer->memory > 0, whose == ITS && can_open_memory(other.pid));
		others = !peer->memory;
		asked = 0;
		write_and_read(&stage, &other, FEW, 1);
		assert_int_equal(asked, others);
		write_and_read(&stage, &other, BYTES, 2);
		assert_int_equal(asked, 1 + others);
		stage_close(&stage);
		end(&other);
	}
	whose = ITS;
}

/* Static, so that leak sanitizers find the objects that are never freed. */
static struct stage left;

/* A queue pair whose context was closed first gets no events. */
static void test_context_is_closed_first(void **unused)
{
	struct soft_events_image *ring;
	struct ibv_context *context = stage_open_device();
	uint64_t deadline_ns = soft_time_ns() + PATIENCE_S * SOFT_SECOND_NS;
	uint32_t index;

	stage_open(&left, &(struct stage_ways){0});
	index = soft_image_index(left.end[0].qp->qp_num);
	assert_int_equal(ibv_close_device(left.context), 0);
	assert_null(soft_table_get(&soft_process.qps, index));
	ring = &soft_process.arena.image->events;
	soft_event_leave(&soft_process.self, IBV_EVENT_QP_FATAL, index);
	while (atomic_load(&ring->head) != atomic_load(&ring->tail)) {
		assert_true(soft_time_ns() < deadline_ns);
		usleep(1000);
	}
	assert_int_equal(ibv_close_device(context), 0);
}

/* Descriptors arrive with valid messages, and not with invalid ones. */
static void test_messages(void **unused)
{
	const struct soft_message hello = {.kind = SOFT_MESSAGE_HELLO, .slot = 3, .generation = 4};
	struct soft_message message;
	int fd[SOFT_MESSAGE_FDS];
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	assert_int_equal(soft_message_receive(ends[1], &message, fd), -EAGAIN);
	assert_int_equal(soft_message_send(ends[0], &hello, (const int[]){0, 1, 2}), 0);
	assert_int_equal(soft_message_receive(ends[1], &message, fd), 0);
	assert_int_equal(message.slot, 3);
	assert_int_equal(message.generation, 4);
	for (int i = 0; i < SOFT_MESSAGE_FDS; i++)
		assert_int_equal(close(fd[i]), 0);
	assert_int_equal(write(ends[0], "garbage", 7), 7);
	assert_int_equal(soft_message_receive(ends[1], &message, fd), -EPROTO);
	assert_int_equal(write(ends[0], &hello, sizeof(hello)), sizeof(hello));
	assert_int_equal(soft_message_receive(ends[1], &message, fd), -EPROTO);
	close(ends[0]);
	assert_int_equal(soft_message_receive(ends[1], &message, fd), -ECONNRESET);
	close(ends[1]);
}

/* Messages to a process that has ended are lost, as on a wire; an event reports the end. */
static void test_message_after_peer_ended(void **unused)
{
	struct soft_cm_message word = {.kind = SOFT_CM_READY};
	struct soft_cm_socket link = {.id = NULL};
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	link.source.fd = ends[0];
	assert_int_equal(soft_cm_socket_send(&link, &word), 0);
	close(ends[1]);
	assert_int_equal(soft_cm_socket_send(&link, &word), 0);
	assert_int_equal(soft_cm_socket_send(NULL, &word), -ENOTCONN);
	close(ends[0]);
	assert_int_equal(soft_cm_socket_send(&link, &word), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_peer_dies_during_handshake, end_child),
		cmocka_unit_test(test_port_entry_is_reused),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_message_after_peer_ended),
		cmocka_unit_test_teardown(test_peer_is_stopped, end_child),
		cmocka_unit_test_teardown(test_memory_file_of_peer, end_child),
		cmocka_unit_test(test_context_is_closed_first),
	};

	whole = getpid();
	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
