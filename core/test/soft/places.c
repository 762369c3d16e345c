/* SPDX-License-Identifier: MIT */
/* The directory where the processes of a user meet, in private mounts, some of them full. */
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
	fprintf(stderr, "# check in line %d failed\n", line);
	_exit(1);
}

#define CHECK(condition) check(condition, __LINE__)

/* Calls a function in a child with private mounts. */
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
		print_message("# this machine does not allow mount namespaces\n");
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
	/* The same directory works once it has enough space. */
	CHECK(!mount(NULL, stage_directory(), "tmpfs", MS_REMOUNT, "size=8m"));
	CHECK(!soft_registry_open(&registry));
	for (uint32_t i = 0; i < SOFT_SLOTS; i++)
		registry.file->counts[i].sent[0].packets = 1;
	soft_registry_close(&registry);
}

/* Opening the device fails, instead of SIGBUS when the registry is accessed later. */
static void test_full_directory(void **unused)
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

/* If the first directory is full, all processes use the next one. */
static void test_next_directory_if_full(void **unused)
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

/* Other errors are reported: in the next directory, the process would be alone. */
static void test_damaged_registry(void **unused)
{
	with_mounts(open_damaged_one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full_directory),
		cmocka_unit_test(test_next_directory_if_full),
		cmocka_unit_test(test_damaged_registry),
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
