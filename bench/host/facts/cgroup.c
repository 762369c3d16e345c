/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/host/facts/part.h"

#define PROC_SIZE 8192

/* Gets a CPU limit in the format of cgroup version 2, where "max" means no limit. */
static bool read_limit(const char *root, const char *folder, char limit[static SYSFS_NAME])
{
	int64_t quota;
	int64_t period;

	if (sysfs_line(root, limit, SYSFS_NAME, "%s/cpu.max", folder))
		return true;
	if (!sysfs_number(root, &quota, "%s/cpu.cfs_quota_us", folder) ||
	    !sysfs_number(root, &period, "%s/cpu.cfs_period_us", folder))
		return false;
	if (quota < 0)
		snprintf(limit, SYSFS_NAME, "max %" PRId64, period);
	else
		snprintf(limit, SYSFS_NAME, "%" PRId64 " %" PRId64, quota, period);
	return true;
}

/* Returns the number of CPUs that a limit amounts to. */
static double cpus_of(const char *limit)
{
	long long quota;
	long long period;

	if (sscanf(limit, "%lld %lld", &quota, &period) != 2 || period <= 0)
		return (double)INFINITY;
	return (double)quota / (double)period;
}

/* Adds the tightest limit of the group and its ancestors, whose limits apply too. */
static void add_cpu_max(json_t *section, const char *root, const char *own)
{
	char folder[CGROUP_FOLDER];
	char limit[SYSFS_NAME];
	char least[SYSFS_NAME] = "";

	snprintf(folder, sizeof(folder), "%s", own);
	do {
		if (!read_limit(root, folder, limit))
			continue;
		if (!least[0] || cpus_of(limit) < cpus_of(least))
			memcpy(least, limit, sizeof(least));
	} while (cgroup_parent(folder));
	facts_set(section, "cpu_max", least);
}

static void add_cpu(json_t *section, const char *root)
{
	char folder[CGROUP_FOLDER];
	char value[SYSFS_NAME];
	char *stat;

	if (!cgroup_find(root, "cpu", folder))
		return;
	add_cpu_max(section, root, folder);
	stat = sysfs_text(root, PROC_SIZE, "%s/cpu.stat", folder);
	if (sysfs_field(stat, "nr_throttled", value, sizeof(value)))
		json_object_set_new(section, "nr_throttled", fact_number(value));
	free(stat);
}

json_t *facts_cgroup(const struct facts_place *place)
{
	static const struct fact rows[] = {
		{"cpus",       "cpuset.cpus.effective", fact_text},
		{"memory_max", "memory.max",            fact_text},
	};
	json_t *section = json_object();
	char folder[CGROUP_FOLDER];

	if (cgroup_find(place->root, "", folder))
		facts_read(section, place->root, folder, rows, ARRAY_LENGTH(rows));
	add_cpu(section, place->root);
	return section;
}
