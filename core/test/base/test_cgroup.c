/* SPDX-License-Identifier: MIT */
#include "core/base/cgroup.h"
#include "core/base/compiler.h"
#include "core/test/lib/made_up.h"

/* The file's last line may have no newline. */
static void test_groups_of_a_process(void **unused)
{
	static const struct {
		const char *text;
		const char *folder; /* NULL: none */
	} rows[] = {
		{"0::/a/b\n",                     "/sys/fs/cgroup/a/b"     },
		{"0::/",			  "/sys/fs/cgroup"         },
		{"7:cpu:/x\n4:memory,pids:/a/b",  "/sys/fs/cgroup/pids/a/b"},
		{"7:cpu:/x\n4:pids:/none\n",      "/sys/fs/cgroup/pids"    },
		{"7:cpu:/x\n4:pidsy:/a/b\n0::/a", "/sys/fs/cgroup/a"       },
		{"7:cpu:/x",                      NULL                     },
		{"0::relative",                   NULL                     },
	};
	char folder[CGROUP_FOLDER];
	struct made_up machine;

	made_up_open(&machine);
	made_up_folder(&machine, "/sys/fs/cgroup/pids/a/b");
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		made_up_bytes(&machine, "/proc/self/cgroup", rows[i].text, strlen(rows[i].text));
		assert_int_equal(cgroup_find(machine.root, "pids", folder), rows[i].folder != NULL);
		if (rows[i].folder)
			assert_string_equal(folder, rows[i].folder);
	}
	made_up_close(&machine);
}

static void test_parents(void **unused)
{
	char folder[CGROUP_FOLDER] = "/sys/fs/cgroup/a/b";

	assert_true(cgroup_parent(folder));
	assert_string_equal(folder, "/sys/fs/cgroup/a");
	assert_true(cgroup_parent(folder));
	assert_string_equal(folder, "/sys/fs/cgroup");
	assert_false(cgroup_parent(folder));
}

/* The group with the least memory left counts; reclaimable file pages count as free. */
static void test_memory(void **unused)
{
	struct cgroup_limit limit;
	struct made_up machine;

	made_up_open(&machine);
	made_up_file(&machine, "/proc/self/cgroup", "0::/a/b");
	made_up_file(&machine, "/sys/fs/cgroup/a/memory.max", "1000");
	made_up_file(&machine, "/sys/fs/cgroup/a/memory.current", "700");
	made_up_file(&machine, "/sys/fs/cgroup/a/memory.stat", "anon 600\ninactive_file 100");
	made_up_file(&machine, "/sys/fs/cgroup/a/b/memory.max", "max");
	limit = cgroup_limit(machine.root, CGROUP_MEMORY);
	assert_true(limit.most == 1000 && limit.left == 400);
	made_up_file(&machine, "/sys/fs/cgroup/a/b/memory.max", "900");
	made_up_file(&machine, "/sys/fs/cgroup/a/b/memory.current", "950");
	limit = cgroup_limit(machine.root, CGROUP_MEMORY);
	assert_true(limit.most == 900 && limit.left == 0);
	limit = cgroup_limit(machine.root, CGROUP_TASKS);
	assert_true(limit.most == UINT64_MAX && limit.left == UINT64_MAX);
	made_up_close(&machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups_of_a_process),
		cmocka_unit_test(test_parents),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
