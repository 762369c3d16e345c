/* SPDX-License-Identifier: MIT */
#include "bench/host/facts/facts.h"
#include "bench/host/facts/part.h"
#include "bench/test/unit.d/section.h"

/* The tightest limit may be a parent group's; of equal ones, the nearest is reported. */
static void test_control_groups(void **unused)
{
	static const struct {
		const char *cgroup;
		const char *wanted;
	} rows[] = {
		{"0::/",        "{'cpu_max':'150000 100000'}"           },
		{"0::/a",       "{'cpu_max':'50000 100000'}"            },
		{"0::/a/b",     "{'cpu_max':'50000 100000', 'cpus':'3'}"},
		{"0::/c",       "{'cpu_max':'150000 100000'}"           },
		{"0::/a/d",     "{'cpu_max':'50000 100000'}"            },
		{"0::/a/e",     "{'cpu_max':'20000 40000'}"             },
		{"0::/a/f",     "{'cpu_max':'100000 400000'}"           },
		{"4:cpu:/a",    NULL				    },
		{"0::relative", NULL				    },
	};
	struct made_up machine;

	made_up_open(&machine);
	made_up_file(&machine, "/sys/fs/cgroup/unified/cgroup.controllers", "cpu");
	made_up_file(&machine, "/sys/fs/cgroup/unified/cpu.max", "150000 100000");
	made_up_file(&machine, "/sys/fs/cgroup/unified/a/cpu.max", "50000 100000");
	made_up_file(&machine, "/sys/fs/cgroup/unified/a/b/cpu.max", "max 100000");
	made_up_file(&machine, "/sys/fs/cgroup/unified/a/b/cpuset.cpus.effective", "3");
	made_up_file(&machine, "/sys/fs/cgroup/unified/a/d/cpu.max", "90000 100000");
	made_up_file(&machine, "/sys/fs/cgroup/unified/a/e/cpu.max", "20000 40000");
	made_up_file(&machine, "/sys/fs/cgroup/unified/a/f/cpu.max", "100000 400000");
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		made_up_file(&machine, "/proc/self/cgroup", rows[i].cgroup);
		check_section(&machine, NULL, "cgroup", rows[i].wanted);
	}
	made_up_close(&machine);
}

static void make_version_1(const struct made_up *machine, const char *mount)
{
	static const struct {
		const char *file;
		const char *text;
	} rows[] = {
		{"/cpu.cfs_quota_us",        "-1"					      },
		{"/cpu.cfs_period_us",       "100000"                                          },
		{"/cpu.stat",                "nr_periods 9\nnr_throttled 1\nthrottled_time 7"  },
		{"/a/cpu.cfs_quota_us",      "50000"                                           },
		{"/a/cpu.cfs_period_us",     "100000"                                          },
		{"/a/cpu.stat",              "nr_periods 40\nnr_throttled 30\nthrottled_time 7"},
		{"/a/b c/cpu.cfs_quota_us",  "-1"                                              },
		{"/a/b c/cpu.cfs_period_us", "250000"                                          },
		{"/a/b c/cpu.stat",          "nr_periods 5\nnr_throttled 4\nthrottled_time 7"  },
		{"/d/cpu.shares",            "1024"					    },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		char path[128];

		snprintf(path, sizeof(path), "%s%s", mount, rows[i].file);
		made_up_file(machine, path, rows[i].text);
	}
}

/* Checks the number of throttled periods; -1 if unknown. */
static void check_throttled(const struct made_up *machine, json_int_t wanted)
{
	json_t *noise = facts_noise(machine->root);
	const json_t *throttled = json_object_get(noise, "nr_throttled");

	assert_int_equal(throttled ? json_integer_value(throttled) : -1, wanted);
	json_decref(noise);
}

/* In version 1, the controller has its own hierarchy. */
static void test_version_1(void **unused)
{
	static const char *const mounts[] = {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"};
	static const struct {
		const char *cgroup;
		const char *wanted;
		json_int_t throttled; /* of the group and its parents */
	} rows[] = {
		{"4:cpu,cpuacct:/a",					     "{'cpu_max':'50000 100000', 'nr_throttled':30}", 31},
		{"11:cpuset:/x\n4:cpuacct,cpu:/a/b c\n1:name=systemd:/y\n0::/z",
		 "{'cpu_max':'50000 100000', 'nr_throttled':4}",								  35},
		{"4:cpu:/d",						     "{'cpu_max':'max 100000'}",                      1 },
 /* In a container, the path is the host's, but the mount is the container's. */
		{"4:cpu:/docker/0123",					   "{'cpu_max':'max 100000', 'nr_throttled':1}",    1 },
		{"4:cpu:/",						      "{'cpu_max':'max 100000', 'nr_throttled':1}",    1 },
		{"4:cpuset:/a",						  NULL,					    -1},
		{"4:cpu",							NULL,					    -1},
		{"cpu:/a",						       NULL,					    -1},
		{"4:cpu:relative",					       NULL,					    -1},
	};

	for (size_t mount = 0; mount < ARRAY_LENGTH(mounts); mount++) {
		struct made_up machine;

		made_up_open(&machine);
		make_version_1(&machine, mounts[mount]);
		for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
			made_up_file(&machine, "/proc/self/cgroup", rows[i].cgroup);
			check_section(&machine, NULL, "cgroup", rows[i].wanted);
			check_throttled(&machine, rows[i].throttled);
		}
		made_up_close(&machine);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_control_groups),
		cmocka_unit_test(test_version_1),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
