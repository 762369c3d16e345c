/* SPDX-License-Identifier: MIT */
/*
 * The limits of trust between processes: arenas with invalid contents, malicious hosts (the server
 * side of the handshake), and processes and directories of other users.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/soft/device.h"
#include "core/soft/peer/arena.h"
#include "core/test/soft/stage.h"
#include "core/test/soft/victim.h"

enum {
	ROUNDS = 24,
	NOBODY = 65534,
	SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL,
};

static struct victim victim;
static struct victim_report before;
static struct victim_report after;
static pid_t whole;

static int begin(void **state)
{
	victim_start(&victim);
	victim_order(&victim, VICTIM_LOOK, 0, &before);
	return 0;
}

static int finish(void **state)
{
	if (getpid() != whole)
		_exit(1);
	victim_end(&victim);
	return 0;
}

/* Performs the handshake. Returns the socket, and maps the victim's arena. */
static int enter(struct soft_arena *arena)
{
	struct soft_message message = victim_message(&victim, SOFT_MESSAGE_HELLO);
	int fds[SOFT_MESSAGE_FDS] = {-1, -1, -1};
	int fd = victim_knock(&victim);
	int result;

	assert_int_equal(soft_message_send(fd, &message, fds), 0);
	for (message.kind = 0; message.kind != SOFT_MESSAGE_HELLO;) {
		if (fds[0] >= 0)
			close(fds[0]);
		while ((result = soft_message_receive(fd, &message, fds)) == -EAGAIN)
			usleep(1000);
		assert_int_equal(result, 0);
	}
	assert_int_equal(soft_arena_map(arena, fds[0], fds[2]), 0);
	close(fds[1]);
	return fd;
}

typedef void scribble(struct soft_image *image, struct soft_qp_image *qp, struct soft_cq_image *cq);

static void long_ring(struct soft_image *image, struct soft_qp_image *qp, struct soft_cq_image *cq)
{
	qp->queue.size = cq->size = UINT32_C(1) << 31;
}

static void far_ring(struct soft_image *image, struct soft_qp_image *qp, struct soft_cq_image *cq)
{
	qp->queue.offset = cq->offset = UINT64_MAX - 4096;
}

static void wide_ring(struct soft_image *image, struct soft_qp_image *qp, struct soft_cq_image *cq)
{
	qp->queue.stride = UINT32_MAX;
	cq->size = 3;
}

static void no_ring(struct soft_image *image, struct soft_qp_image *qp, struct soft_cq_image *cq)
{
	qp->queue.size = qp->queue.stride = cq->size = 0;
	qp->queue.offset = cq->offset = 0;
}

static void ends_apart(struct soft_image *image, struct soft_qp_image *qp, struct soft_cq_image *cq)
{
	atomic_store(&qp->queue.tail, UINT32_C(1) << 30);
	cq->tail = UINT32_C(1) << 30;
	atomic_store(&cq->raised, UINT32_C(1) << 30);
	atomic_store(&image->events.tail, UINT32_C(1) << 30);
}

static void high_numbers(struct soft_image *image, struct soft_qp_image *qp,
			 struct soft_cq_image *cq)
{
	qp->recv_cq = qp->srq = qp->pd = UINT32_MAX;
	cq->channel = cq->channel_generation = cq->armed = UINT32_MAX;
	image->slot = image->gid_count = image->generation = UINT32_MAX;
	/* The data after the GIDs looks like a GID, but is none. */
	memset(image->interface, VICTIM_MARK, sizeof(image->interface));
	image->size = UINT64_MAX;
}

/* Receives and completions with too many elements, or with unregistered memory. */
static void wrong_entries(struct soft_image *image, struct soft_qp_image *qp,
			  struct soft_cq_image *cq)
{
	struct soft_completion *completion = (void *)((char *)image + cq->offset);
	char *receives = (char *)image + qp->queue.offset;

	for (uint32_t i = 0; i < qp->queue.size; i++) {
		struct soft_receive *receive = (void *)(receives + (size_t)i * qp->queue.stride);

		receive->count = i % 2 ? UINT32_MAX : 2 * SOFT_SGE_MAX;
		receive->length = UINT32_MAX;
	}
	atomic_store(&qp->queue.tail, atomic_load(&qp->queue.head) + 3);
	for (uint32_t i = 0; i < cq->size; i++) {
		completion[i].address = victim.card.address - 64 + (i % 2 ? VICTIM_BYTES : 0);
		completion[i].key = i % 3 ? victim.card.key : victim.card.local_key;
		completion[i].carried = i % 5 ? 128 : UINT32_MAX;
		/* Some are for the queue pair, some for others that do not exist. */
		completion[i].opcode = IBV_WC_RECV;
		completion[i].qp_num = atomic_load(&qp->number) + (i % 3 ? i : 0);
		completion[i].taken = i * UINT32_C(0x1000001);
		atomic_store(&completion[i].sequence, i + 1);
	}
}

static const struct {
	const char *what;
	scribble *scribble;
} scribbles[] = {
	{"oversized rings",            long_ring    },
	{"rings outside of the arena", far_ring     },
	{"overlapping rings",          wide_ring    },
	{"empty rings",                no_ring      },
	{"too many entries",           ends_apart   },
	{"invalid numbers",            high_numbers },
	{"receives and completions",   wrong_entries},
};

static void write_all_over(scribble *what)
{
	struct soft_arena arena;
	int fd = enter(&arena);
	struct soft_qp_image *qp = &arena.image->qp[victim.card.qp];

	what(arena.image, qp, &arena.image->cq[qp->recv_cq % SOFT_CQS]);
	soft_arena_finish(&arena);
	close(fd);
}

/* The owner still works, and its unregistered memory is unchanged. */
static void test_invalid_arena_contents(void **unused)
{
	for (size_t i = 0; i < ARRAY_LENGTH(scribbles); i++) {
		print_message("# %s\n", scribbles[i].what);
		write_all_over(scribbles[i].scribble);
		victim_order(&victim, VICTIM_WORK, 0, &after);
		assert_true(after.is_intact);
		/* The victim can also free everything in this state. */
		write_all_over(scribbles[i].scribble);
		victim_end(&victim);
		begin(NULL);
	}
}

static void fill(void *at, size_t size, uint64_t *seed)
{
	unsigned char *bytes = at;

	for (size_t i = 0; i < size; i++) {
		*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		bytes[i] = (unsigned char)(*seed >> 56);
	}
}

static void test_random_arena_contents(void **unused)
{
	struct soft_arena arena;
	int fd = enter(&arena);
	struct soft_image *image = arena.image;
	struct soft_qp_image *qp = &image->qp[victim.card.qp];
	uint32_t cq = qp->recv_cq % SOFT_CQS;
	char *receives = (char *)image + qp->queue.offset;
	char *completions = (char *)image + image->cq[cq].offset;

	for (uint64_t round = 1; round <= ROUNDS; round++) {
		uint64_t seed = round;

		fill(receives, 4096, &seed);
		fill(completions, 16 * sizeof(struct soft_completion), &seed);
		fill(&image->events, sizeof(image->events), &seed);
		fill(&image->srq[1], sizeof(image->srq[1]), &seed);
		fill(qp, sizeof(*qp), &seed);
		fill(&image->cq[cq], sizeof(image->cq[cq]), &seed);
		victim_order(&victim, VICTIM_WORK, 0, &after);
		assert_true(after.is_intact);
	}
	soft_arena_finish(&arena);
	close(fd);
}

/* The descriptors that a host sends, some of them invalid. */
struct host {
	const char *what;
	int arena; /* descriptor; 0: the valid one, -1: none. Likewise below */
	int doorbell;
	int memory;
	uint32_t slot; /* 0: its own */
	int channel;   /* descriptor of a channel to send first; 0: none */
	uint32_t number;
	bool is_silent;
	bool is_met;
};

static int make_file(uint64_t size, int seals)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static int given_or_valid(int given, int valid)
{
	return given ? given : valid;
}

/* The objects of a valid host. */
struct goods {
	struct soft_arena arena;
	int event;
};

/* Answers one guest. Runs in a child. */
static void answer(int listener, const struct host *host, const struct goods *goods)
{
	const int fds[SOFT_MESSAGE_FDS] = {given_or_valid(host->arena, goods->arena.fd),
					   given_or_valid(host->doorbell, goods->event),
					   given_or_valid(host->memory, goods->arena.memory_fd)};
	const int channel[SOFT_MESSAGE_FDS] = {host->channel, -1, -1};
	struct soft_message message = victim_message(&victim, SOFT_MESSAGE_CHANNEL);
	int guest = accept(listener, NULL, NULL);
	char byte;

	message.slot = host->number;
	if (host->channel)
		soft_message_send(guest, &message, channel);
	message.kind = SOFT_MESSAGE_HELLO;
	message.slot = host->slot ? host->slot : victim.self.slot;
	if (!host->is_silent)
		soft_message_send(guest, &message, fds);
	/* Wait until the guest closes the socket. */
	while (recv(guest, &byte, 1, 0) > 0)
		;
	_exit(0);
}

static int listen_as(const struct soft_registry *registry)
{
	struct sockaddr_un address;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	soft_registry_address(registry, registry->slot, &address);
	unlink(address.sun_path);
	return bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 8) ? -1 : fd;
}

static void check_host(const struct host *host, const struct goods *goods)
{
	int listener = listen_as(&victim.self);
	pid_t child;

	print_message("# %s\n", host->what);
	assert_true(listener >= 0);
	child = fork();
	if (!child)
		answer(listener, host, goods);
	victim_order(&victim, VICTIM_MEET, victim.self.slot, &after);
	assert_int_equal(after.has_met, host->is_met);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(listener);
	for (int i = 0; i < 1000 && after.fds != before.fds; i++) {
		usleep(1000);
		victim_order(&victim, VICTIM_LOOK, 0, &after);
	}
	assert_int_equal(after.fds, before.fds);
}

static void test_hosts(void **unused)
{
	const uint64_t memory = sizeof(struct soft_memory_image);
	struct goods goods = {.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	int event = goods.event;
	int files[5];
	int pipes[2];

	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(soft_arena_create(&goods.arena), 0);
	files[0] = make_file(4096, SEALS);
	files[1] = make_file(SOFT_ARENA_SIZE, F_SEAL_GROW | F_SEAL_SEAL);
	files[2] = make_file(SOFT_ARENA_SIZE, SEALS);
	files[3] = make_file(memory - 4096, SEALS);
	files[4] = make_file(memory, 0);
	check_host(&(struct host){.what = "valid host", .is_met = true}, &goods);
	check_host(&(struct host){.what = "valid host with a channel",
				  .channel = event,
				  .number = 1,
				  .is_met = true},
		   &goods);
	check_host(&(struct host){.what = "silent host", .is_silent = true}, &goods);
	check_host(&(struct host){.what = "no arena", .arena = -1}, &goods);
	check_host(&(struct host){.what = "short arena", .arena = files[0]}, &goods);
	check_host(&(struct host){.what = "arena that can be truncated", .arena = files[1]},
		   &goods);
	check_host(&(struct host){.what = "arena of zeros", .arena = files[2]}, &goods);
	check_host(&(struct host){.what = "pipe as arena", .arena = pipes[0]}, &goods);
	check_host(&(struct host){.what = "no region table", .memory = -1}, &goods);
	check_host(&(struct host){.what = "short region table", .memory = files[3]}, &goods);
	check_host(&(struct host){.what = "region table that can be truncated", .memory = files[4]},
		   &goods);
	check_host(&(struct host){.what = "pipe as doorbell", .doorbell = pipes[1]}, &goods);
	check_host(&(struct host){.what = "no doorbell", .doorbell = -1}, &goods);
	check_host(&(struct host){.what = "slot of another process", .slot = victim.card.slot},
		   &goods);
	check_host(&(struct host){.what = "invalid slot", .slot = UINT32_MAX}, &goods);
	check_host(&(struct host){.what = "pipe as channel", .channel = pipes[1], .number = 1},
		   &goods);
	check_host(&(struct host){.what = "channel 0", .channel = event}, &goods);
	check_host(&(struct host){.what = "first channel past the table",
				  .channel = event,
				  .number = SOFT_CHANNELS},
		   &goods);
	check_host(&(struct host){.what = "highest channel number",
				  .channel = event,
				  .number = UINT32_MAX},
		   &goods);
	for (size_t i = 0; i < ARRAY_LENGTH(files); i++)
		close(files[i]);
	soft_arena_finish(&goods.arena);
	close(pipes[0]);
	close(pipes[1]);
	close(event);
}

/* Fills an arena with a queue pair that can receive messages of the victim. */
static void pose(struct soft_arena *arena, void *memory, uint64_t size)
{
	struct soft_image *image = arena->image;
	struct soft_qp_image *qp = &image->qp[2];
	struct soft_cq_image *cq = &image->cq[1];
	const struct ibv_sge sge = {(uintptr_t)memory, (uint32_t)size, 0x10001};
	struct soft_receive *receive;

	image->gid_count = 1;
	image->gid[0] = victim.card.gid;
	arena->memory->region[1] = (struct soft_region_image){
		.key = sge.lkey,
		.pd = 7,
		.access = IBV_ACCESS_LOCAL_WRITE,
		.address = sge.addr,
		.iova = sge.addr,
		.length = size,
	};
	cq->size = 64;
	cq->offset = soft_arena_allocate(arena, cq->size * sizeof(struct soft_completion));
	qp->queue.size = 4;
	qp->queue.stride = sizeof(*receive) + sizeof(sge);
	qp->queue.offset = soft_arena_allocate(arena, 4096);
	receive = soft_arena_at(arena, qp->queue.offset, qp->queue.stride);
	receive->count = 1;
	receive->length = sge.length;
	receive->sge[0] = sge;
	atomic_store(&qp->queue.tail, 1);
	atomic_store(&qp->queue.psn, STAGE_PSN);
	qp->type = IBV_QPT_RC;
	qp->number = victim.self.slot << SOFT_INDEX_BITS | 2;
	qp->pd = 7;
	qp->recv_cq = 1;
	atomic_store(&qp->peer, victim.card.slot << SOFT_INDEX_BITS | victim.card.qp);
	atomic_store(&qp->state, IBV_QPS_RTS);
}

/* Makes the victim send to an arena. Returns the number of completions there. */
static uint32_t receive_from_victim(scribble *what)
{
	static unsigned char memory[8192];
	struct goods goods = {.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	struct soft_cq_image *cq;
	uint32_t count;
	int listener = listen_as(&victim.self);
	pid_t child;

	assert_int_equal(soft_arena_create(&goods.arena), 0);
	pose(&goods.arena, memory, sizeof(memory));
	cq = &goods.arena.image->cq[1];
	if (what)
		what(goods.arena.image, &goods.arena.image->qp[2], cq);
	child = fork();
	if (!child)
		answer(listener, &(struct host){.what = "target"}, &goods);
	victim_order(&victim, VICTIM_MEET, victim.self.slot, &after);
	assert_true(after.has_met);
	victim_order(&victim, VICTIM_WORK, 0, &after);
	assert_true(after.is_intact);
	count = cq->tail;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(listener);
	close(goods.event);
	soft_arena_finish(&goods.arena);
	victim_end(&victim);
	begin(NULL);
	return count;
}

/* A sender uses nothing from the target's arena without validation. */
static void test_target_with_invalid_arena(void **unused)
{
	assert_int_equal(receive_from_victim(NULL), 1);
	for (size_t i = 0; i < ARRAY_LENGTH(scribbles); i++) {
		print_message("# %s\n", scribbles[i].what);
		receive_from_victim(scribbles[i].scribble);
	}
}

static void become(uid_t user)
{
	if (setgroups(0, NULL) || setresgid(user, user, user) || setresuid(user, user, user))
		_exit(99);
}

/* Listens at the address of the test's slot until it is killed. */
static pid_t usurp(uid_t user)
{
	int ready[2];
	char byte;
	pid_t child;

	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (!child) {
		if (user)
			become(user);
		if (listen_as(&victim.self) < 0 || write(ready[1], "r", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return child;
}

static void check_usurper(uid_t user)
{
	struct sockaddr_un address;
	pid_t child = usurp(user);

	victim_order(&victim, VICTIM_MEET, victim.self.slot, &after);
	assert_false(after.has_met);
	assert_int_equal(after.fds, before.fds);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	soft_registry_address(&victim.self, victim.self.slot, &address);
	unlink(address.sun_path);
}

static void test_usurped_address(void **unused)
{
	check_usurper(0);
}

/* Runs as another user. Returns 0 if the process is kept out. */
static int try_the_door(bool is_open)
{
	/* This message would be valid from a process of the same user. */
	struct soft_message word = victim_message(&victim, SOFT_MESSAGE_CONNECTION);
	struct soft_registry registry;
	struct sockaddr_un address;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (soft_registry_open(&registry) != -EACCES)
		return 2;
	soft_registry_address(&victim.self, victim.card.slot, &address);
	if (!is_open)
		return !connect(fd, (struct sockaddr *)&address, sizeof(address)) ||
		       errno != EACCES;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return 3;
	if (send(fd, &word, sizeof(word), MSG_NOSIGNAL) < 0 && errno != EPIPE)
		return 4;
	return !victim_is_shut(fd);
}

static void check_stranger(bool is_open)
{
	pid_t child = fork();
	int status;

	if (!child) {
		become(NOBODY);
		_exit(try_the_door(is_open));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void test_another_user(void **unused)
{
	struct sockaddr_un address;

	if (geteuid()) {
		print_message("# only root can switch to another user\n");
		skip();
	}
	check_stranger(false);
	/* Even if directory and socket are open to all, the process checks the user. */
	soft_registry_address(&victim.self, victim.card.slot, &address);
	assert_int_equal(chmod(stage_directory(), 0777), 0);
	assert_int_equal(chmod(victim.self.directory, 0777), 0);
	assert_int_equal(chmod(address.sun_path, 0777), 0);
	check_stranger(true);
	check_usurper(NOBODY);
	assert_int_equal(chmod(victim.self.directory, 0700), 0);
	assert_int_equal(chmod(stage_directory(), 0700), 0);
	victim_order(&victim, VICTIM_LOOK, 0, &after);
	assert_int_equal(after.fds, before.fds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_invalid_arena_contents, begin, finish),
		cmocka_unit_test_setup_teardown(test_random_arena_contents, begin, finish),
		cmocka_unit_test_setup_teardown(test_hosts, begin, finish),
		cmocka_unit_test_setup_teardown(test_target_with_invalid_arena, begin, finish),
		cmocka_unit_test_setup_teardown(test_usurped_address, begin, finish),
		cmocka_unit_test_setup_teardown(test_another_user, begin, finish),
	};

	whole = getpid();
	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
