/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/cgroup.h"
#include "core/base/free_memory.h"
#include "core/test/lib/check.h"

static char root[] = "/tmp/memory.XXXXXX";

static void put(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s%s", root, name);
	for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	file = fopen(path, "we");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int begin(void **unused)
{
	strcpy(root, "/tmp/memory.XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int end(void **unused)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

#define MEMINFO "MemTotal:       8000000 kB\nMemFree:     1000 kB\nMemAvailable:    3000000 kB\n"

static void test_machine(void **unused)
{
	assert_true(free_memory_available(root) == UINT64_MAX);
	assert_true(free_memory_most(root) == UINT64_MAX);
	put("/proc/meminfo", MEMINFO);
	assert_int_equal(free_memory_available(root), 3072000000);
	assert_int_equal(free_memory_info(root, "MemFree"), 1000);
	assert_int_equal(free_memory_info(root, "Mem"), 0);
	assert_int_equal(free_memory_most(root), 8192000000);
}

/* The group with the least memory left counts, including parents; cached files count as free. */
static void test_groups(void **unused)
{
	put("/proc/meminfo", MEMINFO);
	put("/proc/self/cgroup", "0::/jobs/seven\n");
	assert_int_equal(free_memory_available(root), 3072000000);
	put("/sys/fs/cgroup/jobs/seven/memory.max", "max\n");
	put("/sys/fs/cgroup/jobs/seven/memory.current", "5000\n");
	assert_int_equal(free_memory_available(root), 3072000000);
	put("/sys/fs/cgroup/jobs/memory.max", "1000000\n");
	put("/sys/fs/cgroup/jobs/memory.current", "400000\n");
	assert_int_equal(free_memory_available(root), 600000);
	put("/sys/fs/cgroup/jobs/memory.stat", "anon 7\ninactive_file 100000\nactive_file 9\n");
	assert_int_equal(free_memory_available(root), 700000);
	assert_int_equal(free_memory_most(root), 1000000);
	put("/sys/fs/cgroup/jobs/seven/memory.max", "5500\n");
	assert_int_equal(free_memory_available(root), 500);
	put("/sys/fs/cgroup/jobs/seven/memory.current", "6000\n");
	assert_int_equal(free_memory_available(root), 0);
}

/* In a container, the group is the top of the visible hierarchy. */
static void test_container(void **unused)
{
	put("/proc/meminfo", MEMINFO);
	put("/proc/self/cgroup", "0::/\n");
	put("/sys/fs/cgroup/memory.max", "900\n");
	put("/sys/fs/cgroup/memory.current", "100\n");
	assert_int_equal(free_memory_available(root), 800);
}

static void test_cgroup_version_1(void **unused)
{
	put("/proc/meminfo", MEMINFO);
	put("/proc/self/cgroup", "4:cpu:/x\n3:memory:/jobs\n");
	put("/sys/fs/cgroup/memory/jobs/memory.limit_in_bytes", "90000\n");
	put("/sys/fs/cgroup/memory/jobs/memory.usage_in_bytes", "50000\n");
	put("/sys/fs/cgroup/memory/jobs/memory.stat", "cache 3\ntotal_inactive_file 20000\n");
	put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
	put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "123456789\n");
	assert_int_equal(free_memory_available(root), 60000);
}

/* Tasks in both versions: no group, a service's own group, and its parent. */
static void test_tasks(void **unused)
{
	assert_true(cgroup_limit(root, CGROUP_TASKS).most == UINT64_MAX);
	put("/proc/self/cgroup", "0::/system.slice/one.service\n");
	put("/sys/fs/cgroup/system.slice/one.service/pids.max", "4352\n");
	assert_int_equal(cgroup_limit(root, CGROUP_TASKS).most, 4352);
	assert_true(cgroup_limit(root, CGROUP_TASKS).left == UINT64_MAX);
	put("/sys/fs/cgroup/system.slice/one.service/pids.current", "1\n");
	assert_int_equal(cgroup_limit(root, CGROUP_TASKS).left, 4351);
	put("/sys/fs/cgroup/system.slice/pids.max", "max\n");
	put("/sys/fs/cgroup/system.slice/pids.current", "900\n");
	assert_int_equal(cgroup_limit(root, CGROUP_TASKS).left, 4351);
	put("/sys/fs/cgroup/system.slice/pids.max", "5000\n");
	assert_int_equal(cgroup_limit(root, CGROUP_TASKS).left, 4100);
	assert_int_equal(cgroup_limit(root, CGROUP_TASKS).most, 4352);
	put("/proc/self/cgroup", "4:memory:/x\n3:pids:/jobs\n");
	put("/sys/fs/cgroup/pids/jobs/pids.max", "70\n");
	put("/sys/fs/cgroup/pids/jobs/pids.current", "80\n");
	assert_int_equal(cgroup_limit(root, CGROUP_TASKS).left, 0);
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_A_FOLDER(test_machine),   IN_A_FOLDER(test_groups),
		IN_A_FOLDER(test_container), IN_A_FOLDER(test_cgroup_version_1),
		IN_A_FOLDER(test_tasks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
