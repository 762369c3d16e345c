/* SPDX-License-Identifier: MIT */
/* Where the processes of a user meet: in mounts of their own, of which some have no room. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/soft/peer/registry.h"
#include "core/test/soft/network.h"
#include "core/test/soft/stage.h"

enum {
	NO_MOUNTS = 77,
};

static void check(bool is_true, int line)
{
	if (is_true)
		return;
	fprintf(stderr, "# line %d is not so\n", line);
	_exit(1);
}

#define CHECK(condition) check(condition, __LINE__)

/* What is tried is done by a child, which alone has the mounts. */
static void with_mounts(void (*try)(void))
{
	int status;
	pid_t child = fork();

	if (!child) {
		if (network_enter_mounts())
			_exit(NO_MOUNTS);
		try();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_MOUNTS) {
		print_message("# this machine lets nobody have mounts of his own\n");
		skip();
	}
	assert_int_equal(status, 0);
}

static void mount_on(const char *path, const char *size)
{
	CHECK(!mount("tmpfs", path, "tmpfs", 0, size));
	CHECK(!chmod(path, 0700));
}

static bool is_in(const struct soft_registry *registry, const char *path)
{
	return !strncmp(registry->directory, path, strlen(path));
}

static void open_in_full_one(void)
{
	struct soft_registry registry;

	mount_on(stage_directory(), "size=64k");
	CHECK(soft_registry_open(&registry) == -ENOSPC);
	/* Once there is room the same place is good. */
	CHECK(!mount(NULL, stage_directory(), "tmpfs", MS_REMOUNT, "size=8m"));
	CHECK(!soft_registry_open(&registry));
	for (uint32_t i = 0; i < SOFT_SLOTS; i++)
		registry.file->counts[i].sent[0].packets = 1;
	soft_registry_close(&registry);
}

/* Who opens the device is told, rather than killed when he touches what is not there. */
static void test_a_place_without_room(void **unused)
{
	with_mounts(open_in_full_one);
}

static void open_beside_full_one(void)
{
	struct soft_registry first;
	struct soft_registry next;
	int status;
	pid_t child;

	mount_on("/dev/shm", "size=64k");
	CHECK(!unsetenv("VERBMARK_SOFT_DIR"));
	CHECK(!setenv("XDG_RUNTIME_DIR", stage_directory(), 1));
	CHECK(!soft_registry_open(&first));
	CHECK(is_in(&first, stage_directory()));
	child = fork();
	if (!child) {
		CHECK(!soft_registry_open(&next));
		CHECK(is_in(&next, stage_directory()));
		CHECK(next.slot != first.slot);
		CHECK(soft_registry_is_alive(&next, first.slot, first.generation));
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && !status);
	soft_registry_close(&first);
}

/* Processes meet in the next place. */
static void test_a_place_beside_one_without_room(void **unused)
{
	with_mounts(open_beside_full_one);
}

static void open_damaged_one(void)
{
	struct soft_registry registry;

	mount_on("/dev/shm", "size=8m");
	CHECK(!unsetenv("VERBMARK_SOFT_DIR"));
	CHECK(!setenv("XDG_RUNTIME_DIR", stage_directory(), 1));
	CHECK(!soft_registry_open(&registry));
	CHECK(is_in(&registry, "/dev/shm"));
	registry.file->magic++;
	soft_registry_close(&registry);
	CHECK(soft_registry_open(&registry) == -EPROTO);
}

/* An error that is not the place's is reported: in the next place nobody would be met. */
static void test_a_place_with_a_damaged_registry(void **unused)
{
	with_mounts(open_damaged_one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_place_without_room),
		cmocka_unit_test(test_a_place_beside_one_without_room),
		cmocka_unit_test(test_a_place_with_a_damaged_registry),
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
