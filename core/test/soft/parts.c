/* SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "core/soft/op/grh.h"
#include "core/soft/peer/arena.h"
#include "core/soft/peer/lock.h"
#include "core/soft/peer/process.h"
#include "core/soft/peer/registry.h"
#include "core/soft/peer/table.h"
#include "core/test/soft/stage.h"

enum {
	NOBODY = 65534,
};

static uint32_t dead;

static bool is_alive(uint32_t holder)
{
	return holder != dead;
}

/* A lock can be taken over only from a dead process; soft_lock_take reports that. */
static void test_lock_of_dead_process(void **unused)
{
	struct soft_lock lock = {0};

	soft_lock_self = 5;
	soft_lock_is_alive = is_alive;
	dead = 77;
	assert_false(soft_lock_take(&lock));
	assert_false(soft_lock_try(&lock));
	soft_lock_release(&lock);
	atomic_store(&lock.holder, dead);
	assert_true(soft_lock_take(&lock));
	assert_int_equal(atomic_load(&lock.holder), 5);
	soft_lock_release(&lock);
	assert_false(soft_lock_take(&lock));
	soft_lock_is_alive = NULL;
}

static void test_numbers_are_assigned_in_turn(void **unused)
{
	struct soft_table table;
	int object[4];

	assert_int_equal(soft_table_init(&table, 2, 5), 0);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(soft_table_take(&table), 2 + i);
		assert_null(soft_table_get(&table, 2 + i));
		soft_table_show(&table, 2 + i, &object[i]);
	}
	assert_int_equal(soft_table_take(&table), 0);
	soft_table_hide(&table, 3);
	assert_null(soft_table_get(&table, 3));
	assert_int_equal(soft_table_take(&table), 0);
	soft_table_remove(&table, 3);
	soft_table_remove(&table, 2);
	assert_null(soft_table_get(&table, 3));
	assert_null(soft_table_get(&table, 1000));
	/* After 4 comes 2, although 3 was freed first. */
	assert_int_equal(soft_table_take(&table), 2);
	soft_table_show(&table, 2, &object[3]);
	assert_ptr_equal(soft_table_get(&table, 2), &object[3]);
	/* A number that was put back unused is assigned again, also at the end of the table. */
	assert_int_equal(soft_table_take(&table), 3);
	soft_table_put_back(&table, 3);
	assert_int_equal(soft_table_take(&table), 3);
	soft_table_remove(&table, 4);
	assert_int_equal(soft_table_take(&table), 4);
	soft_table_put_back(&table, 4);
	assert_int_equal(soft_table_take(&table), 4);
	/* The number that was freed last is assigned first. */
	soft_table_put_back(&table, 3);
	soft_table_remove(&table, 2);
	assert_int_equal(soft_table_take(&table), 2);
	soft_table_finish(&table);
}

static uint32_t make_and_destroy(struct stage *stage, bool is_modified)
{
	struct ibv_qp_init_attr init = {
		.send_cq = stage->end[0].cq,
		.recv_cq = stage->end[0].cq,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct ibv_qp *qp = ibv_create_qp(stage->pd, &init);
	uint32_t number;

	assert_non_null(qp);
	number = qp->qp_num;
	if (is_modified)
		assert_int_equal(ibv_modify_qp(qp, &attr,
					       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
						       IBV_QP_ACCESS_FLAGS),
				 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	return number;
}

/* The number of a queue pair that never left RESET is reused at once. */
static void test_numbers_of_unused_queue_pairs(void **unused)
{
	struct stage stage;
	uint32_t number;

	stage_open(&stage, &(struct stage_ways){0});
	number = make_and_destroy(&stage, false);
	assert_int_equal(make_and_destroy(&stage, false), number);
	assert_int_equal(make_and_destroy(&stage, true), number);
	assert_int_not_equal(make_and_destroy(&stage, false), number);
	stage_close(&stage);
}

static void test_blocks_are_zeroed(void **unused)
{
	static const uint64_t sizes[] = {1, 300, 5000, 1 << 20};
	struct soft_arena arena;

	assert_int_equal(soft_arena_create(&arena), 0);
	for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
		uint64_t first = soft_arena_allocate(&arena, sizes[i]);
		uint64_t second = soft_arena_allocate(&arena, sizes[i]);
		unsigned char *bytes = soft_arena_at(&arena, first, sizes[i]);

		assert_non_null(bytes);
		assert_true(second >= first + sizes[i] || first >= second + sizes[i]);
		memset(bytes, 0xff, sizes[i]);
		soft_arena_free(&arena, first, sizes[i]);
		assert_int_equal(soft_arena_allocate(&arena, sizes[i]), first);
		for (uint64_t j = 0; j < sizes[i]; j++)
			assert_int_equal(bytes[j], 0);
	}
	assert_int_equal(soft_arena_allocate(&arena, SOFT_ARENA_SIZE), 0);
	soft_arena_finish(&arena);
	soft_arena_finish(&arena);
}

static void test_offsets_outside_of_arena(void **unused)
{
	struct soft_arena arena;

	assert_int_equal(soft_arena_create(&arena), 0);
	assert_null(soft_arena_at(&arena, 0, 1));
	assert_null(soft_arena_at(&arena, sizeof(struct soft_image) - 1, 1));
	assert_non_null(soft_arena_at(&arena, SOFT_ARENA_SIZE - 1, 1));
	assert_null(soft_arena_at(&arena, SOFT_ARENA_SIZE - 1, 2));
	assert_null(soft_arena_at(&arena, UINT64_MAX, 2));
	assert_null(soft_arena_at(&arena, SOFT_ARENA_SIZE / 2, UINT64_MAX));
	soft_arena_finish(&arena);
}

/* A file that could be truncated later is not mapped. */
static void test_rejects_unsealed_arena(void **unused)
{
	struct soft_arena arena;
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)SOFT_ARENA_SIZE), 0);
	assert_int_equal(soft_arena_map(&arena, fd, dup(fd)), -EPROTO);
	assert_null(arena.image);
}

static int make_file(off_t size, unsigned int flags, int seals)
{
	int fd = memfd_create("test", flags | MFD_ALLOW_SEALING);

	if (fd < 0)
		return fd;
	assert_int_equal(ftruncate(fd, size), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

/* Files that are too short, or use huge pages (none may be available), are not mapped either. */
static void test_rejects_invalid_arena_files(void **unused)
{
	static const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	const off_t size = (off_t)SOFT_ARENA_SIZE;
	struct soft_arena own;
	struct soft_arena arena;
	int fd;

	assert_int_equal(soft_arena_create(&own), 0);
	fd = make_file(size - 4096, 0, seals);
	assert_int_equal(soft_arena_map(&arena, fd, dup(own.memory_fd)), -EPROTO);
	fd = make_file(size, 0, seals & ~F_SEAL_SHRINK);
	assert_int_equal(soft_arena_map(&arena, fd, dup(own.memory_fd)), -EPROTO);
	fd = make_file(4096, 0, seals);
	assert_int_equal(soft_arena_map(&arena, dup(own.fd), fd), -EPROTO);
	fd = make_file(size, MFD_HUGETLB, seals);
	if (fd >= 0)
		assert_int_equal(soft_arena_map(&arena, fd, dup(own.memory_fd)), -EPROTO);
	assert_int_equal(soft_arena_map(&arena, dup(own.fd), dup(own.memory_fd)), 0);
	soft_arena_finish(&arena);
	soft_arena_finish(&own);
}

/* Only the owner can write its table of memory regions. */
static void test_region_table_is_read_only_for_others(void **unused)
{
	static const char zeros[64];
	struct soft_arena arena;
	uint32_t key;

	assert_int_equal(soft_arena_create(&arena), 0);
	assert_ptr_equal(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, arena.memory_fd, 0),
			 MAP_FAILED);
	assert_int_equal(errno, EPERM);
	assert_int_equal(pwrite(arena.memory_fd, zeros, sizeof(zeros), 0), -1);
	assert_int_equal(
		fallocate(arena.memory_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096),
		-1);
	atomic_store(&arena.memory->region[1].key, 0x10001);
	assert_int_equal(pread(arena.memory_fd, &key, sizeof(key), 64), sizeof(key));
	assert_int_equal(key, 0x10001);
	soft_arena_finish(&arena);
}

/* A well-known example header for RFC 1071, with checksum 0xb861. */
static void test_datagram_header(void **unused)
{
	static const unsigned char wanted[] = {0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40,
					       0x00, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8,
					       0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7};
	const union ibv_gid from = {
		.raw = {[10] = 0xff, 0xff, 192, 168, 0, 1}
        };
	const union ibv_gid to = {
		.raw = {[10] = 0xff, 0xff, 192, 168, 0, 199}
        };
	const union ibv_gid v6 = {
		.raw = {0xfd, [15] = 1}
        };
	unsigned char grh[SOFT_GRH];
	union ibv_gid source;
	union ibv_gid target;
	uint8_t traffic_class;

	/* 115 bytes: IP, UDP, BTH, DETH, ICRC, and 63 of payload. */
	soft_grh_write(grh, &from, &to, 0, 63);
	assert_memory_equal(grh + 20, wanted, sizeof(wanted));
	soft_grh_read(grh, &source, &target, &traffic_class);
	assert_memory_equal(&source, &from, sizeof(from));
	assert_memory_equal(&target, &to, sizeof(to));
	soft_grh_write(grh, &v6, &v6, 0xa5, 63);
	assert_int_equal(grh[0], 0x6a);
	assert_int_equal(grh[1], 0x50);
	assert_int_equal(grh[4] << 8 | grh[5], 95);
	soft_grh_read(grh, &source, &target, &traffic_class);
	assert_memory_equal(&source, &v6, sizeof(v6));
	assert_int_equal(traffic_class, 0xa5);
}

static int take_file(const char *path, const struct stat *status, int kind, struct FTW *where)
{
	return kind == FTW_F ? remove(path) : 0;
}

/* Forks a child that takes a slot and dies. Returns its slot and generation. */
static void die_with_a_slot(uint32_t *slot, uint32_t *generation)
{
	uint32_t said[2];
	int pipes[2];
	pid_t child;

	assert_int_equal(pipe(pipes), 0);
	child = fork();
	if (!child) {
		struct soft_registry registry;

		if (soft_registry_open(&registry))
			_exit(1);
		said[0] = registry.slot;
		said[1] = registry.generation;
		_exit(write(pipes[1], said, sizeof(said)) != sizeof(said));
	}
	assert_int_equal(read(pipes[0], said, sizeof(said)), sizeof(said));
	waitpid(child, NULL, 0);
	close(pipes[0]);
	close(pipes[1]);
	*slot = said[0];
	*generation = said[1];
}

static void test_slot_of_dead_process(void **unused)
{
	struct soft_registry first;
	struct soft_registry next;
	uint32_t slot;
	uint32_t generation;

	die_with_a_slot(&slot, &generation);
	assert_int_equal(soft_registry_open(&first), 0);
	assert_int_equal(first.slot, slot);
	assert_int_not_equal(first.generation, generation);
	assert_true(soft_registry_is_alive(&first, slot, first.generation));
	assert_false(soft_registry_is_alive(&first, slot, generation));
	/* A live process keeps its slot. */
	die_with_a_slot(&slot, &generation);
	assert_int_not_equal(slot, first.slot);
	assert_false(soft_registry_is_alive(&first, slot, generation));
	soft_registry_close(&first);
	soft_registry_close(&first);
	assert_int_equal(soft_registry_open(&next), 0);
	soft_registry_close(&next);
}

/* Registries of other builds are ignored; damaged ones are rejected. */
static void test_invalid_registries(void **unused)
{
	struct soft_registry registry;
	char path[200];
	int fd;

	snprintf(path, sizeof(path), "%s/registry", stage_directory());
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "of another build", 16), 16);
	close(fd);
	assert_int_equal(soft_registry_open(&registry), 0);
	registry.file->version++;
	soft_registry_close(&registry);
	assert_int_equal(soft_registry_open(&registry), -EPROTO);
	assert_int_equal(nftw(stage_directory(), take_file, 4, FTW_DEPTH | FTW_PHYS), 0);
	assert_int_equal(soft_registry_open(&registry), 0);
	soft_registry_close(&registry);
}

static void test_rejects_directory_with_group_access(void **unused)
{
	const char *directory = stage_directory();
	struct soft_registry registry;

	assert_int_equal(chmod(directory, 0770), 0);
	assert_int_equal(soft_registry_open(&registry), -EACCES);
	assert_int_equal(chmod(directory, 0700), 0);
	assert_int_equal(soft_registry_open(&registry), 0);
	soft_registry_close(&registry);
}

/* Opens the registry in a directory. inner: set to the actual directory, unless NULL. */
static void check_directory(const char *path, int result, char *inner)
{
	struct soft_registry registry;

	assert_int_equal(setenv("VERBMARK_SOFT_DIR", path, 1), 0);
	assert_int_equal(soft_registry_open(&registry), result);
	if (inner)
		memcpy(inner, registry.directory, sizeof(registry.directory));
	soft_registry_close(&registry);
	assert_int_equal(setenv("VERBMARK_SOFT_DIR", stage_directory(), 1), 0);
}

static void test_directories(void **unused)
{
	char inner[sizeof(((struct soft_registry *)NULL)->directory)];
	char file[sizeof(inner) + 16];
	char path[100];

	snprintf(path, sizeof(path), "%s/link", stage_directory());
	assert_int_equal(symlink(stage_directory(), path), 0);
	check_directory(path, -EACCES, NULL);
	unlink(path);
	assert_true(close(creat(path, 0700)) == 0);
	check_directory(path, -EACCES, NULL);
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	check_directory(path, 0, inner);
	snprintf(file, sizeof(file), "%s/registry", inner);
	unlink(file);
	assert_int_equal(symlink("/dev/shm/elsewhere", file), 0);
	check_directory(path, -ELOOP, NULL);
	assert_int_equal(chmod(inner, 0755), 0);
	check_directory(path, -EACCES, NULL);
	if (!geteuid()) {
		assert_int_equal(chown(path, NOBODY, NOBODY), 0);
		check_directory(path, -EACCES, NULL);
	}
	unlink(file);
	rmdir(inner);
	rmdir(path);
}

/* Simulates that /dev/shm is not usable, for example because another user took the name. */
static bool is_shm_taken;

int mkdir(const char *path, mode_t mode)
{
	if (!is_shm_taken || strncmp(path, "/dev/shm/", strlen("/dev/shm/")) != 0)
		return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
	errno = EACCES;
	return -1;
}

int lstat(const char *path, struct stat *status)
{
	if (!is_shm_taken || strncmp(path, "/dev/shm/", strlen("/dev/shm/")) != 0)
		return fstatat(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
	errno = EACCES;
	return -1;
}

static void test_fallback_directory(void **unused)
{
	struct soft_registry registry;

	assert_int_equal(unsetenv("VERBMARK_SOFT_DIR"), 0);
	assert_int_equal(setenv("XDG_RUNTIME_DIR", stage_directory(), 1), 0);
	is_shm_taken = true;
	assert_int_equal(soft_registry_open(&registry), 0);
	is_shm_taken = false;
	assert_memory_equal(registry.directory, stage_directory(), strlen(stage_directory()));
	soft_registry_close(&registry);
	assert_int_equal(setenv("VERBMARK_SOFT_DIR", stage_directory(), 1), 0);
}

static atomic_bool is_over;
static _Atomic uint32_t last_seen;

/* Counts events like a second lock holder, after a stopped one lost its lock. */
static void *ring_on(void *cq)
{
	struct soft_cq_image *image = cq;

	while (!is_over)
		last_seen = __atomic_fetch_add(&image->rung, 1000, __ATOMIC_RELAXED);
	return NULL;
}

/* Raising an event ends, even if another thread changes the count at the same time. */
static void test_events_counted_by_two(void **unused)
{
	struct stage stage;
	pthread_t other;

	stage_open(&stage, &(struct stage_ways){0});
	is_over = false;
	assert_int_equal(pthread_create(&other, NULL, ring_on, &soft_process.arena.image->cq[1]),
			 0);
	while (!last_seen)
		sched_yield();
	for (int i = 0; i < 20000; i++) {
		struct ibv_send_wr wr = {
			.opcode = IBV_WR_RDMA_WRITE,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = {(uintptr_t)stage.end[1].buffer, stage.mr->rkey}
                };
		struct ibv_cq *cq;
		void *context;

		assert_int_equal(ibv_req_notify_cq(stage.end[0].cq, 0), 0);
		assert_int_equal(stage_post(&stage, &wr, 8), 0);
		assert_int_equal(ibv_get_cq_event(stage.channel, &cq, &context), 0);
		ibv_ack_cq_events(cq, 1);
		assert_int_equal(stage_await(stage.end[0].cq).status, IBV_WC_SUCCESS);
	}
	is_over = true;
	pthread_join(other, NULL);
	stage_close(&stage);
}

/* Arming a queue without a channel writes to no descriptor, in particular not to 0. */
static void test_events_without_a_channel(void **unused)
{
	struct stage stage;
	int ends[2];
	int before = dup(STDIN_FILENO);
	int count = -1;

	stage_open(&stage, &(struct stage_ways){.no_channel = true});
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(dup2(ends[1], STDIN_FILENO), STDIN_FILENO);
	for (int i = 0; i < 3; i++) {
		struct ibv_send_wr wr = {
			.opcode = IBV_WR_RDMA_WRITE,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = {(uintptr_t)stage.end[1].buffer, stage.mr->rkey},
		};

		assert_int_equal(ibv_req_notify_cq(stage.end[0].cq, 0), 0);
		assert_int_equal(stage_post(&stage, &wr, 8), 0);
		assert_int_equal(stage_await(stage.end[0].cq).status, IBV_WC_SUCCESS);
	}
	assert_int_equal(ioctl(ends[0], FIONREAD, &count), 0);
	assert_int_equal(dup2(before, STDIN_FILENO), STDIN_FILENO);
	assert_int_equal(count, 0);
	close(before);
	close(ends[0]);
	close(ends[1]);
	stage_close(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lock_of_dead_process),
		cmocka_unit_test(test_numbers_are_assigned_in_turn),
		cmocka_unit_test(test_numbers_of_unused_queue_pairs),
		cmocka_unit_test(test_blocks_are_zeroed),
		cmocka_unit_test(test_offsets_outside_of_arena),
		cmocka_unit_test(test_rejects_unsealed_arena),
		cmocka_unit_test(test_rejects_invalid_arena_files),
		cmocka_unit_test(test_region_table_is_read_only_for_others),
		cmocka_unit_test(test_datagram_header),
		cmocka_unit_test(test_slot_of_dead_process),
		cmocka_unit_test(test_invalid_registries),
		cmocka_unit_test(test_rejects_directory_with_group_access),
		cmocka_unit_test(test_directories),
		cmocka_unit_test(test_fallback_directory),
		cmocka_unit_test(test_events_counted_by_two),
		cmocka_unit_test(test_events_without_a_channel),
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
