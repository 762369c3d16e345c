/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/host/facts/part.h"

#define CGROUPS "/sys/fs/cgroup"

#define PROC_SIZE 8192
#define PATH_SIZE (SYSFS_TEXT / 2)

/* As a folder of the unified hierarchy, which may have no controllers but those left over. */
static bool find_own(const char *root, char folder[static SYSFS_TEXT])
{
	char *text = sysfs_text(root, PROC_SIZE, "/proc/self/cgroup");
	const char *mount = CGROUPS;
	char path[PATH_SIZE];
	bool found = sysfs_field(text, "0:", path, sizeof(path));

	free(text);
	if (!sysfs_exists(root, "%s/cgroup.controllers", mount))
		mount = CGROUPS "/unified";
	if (!found || path[0] != '/' || !sysfs_exists(root, "%s/cgroup.controllers", mount))
		return false;
	snprintf(folder, SYSFS_TEXT, "%s%s", mount, path[1] ? path : "");
	return true;
}

static bool has_cpu(char *controllers)
{
	char *rest;

	for (char *name = strtok_r(controllers, ",", &rest); name;
	     name = strtok_r(NULL, ",", &rest))
		if (!strcmp(name, "cpu"))
			return true;
	return false;
}

/* Version 1 has a line "4:cpu,cpuacct:/path" of it, version 2 none. */
static bool find_cpu_path(const char *root, char path[static PATH_SIZE])
{
	char *text = sysfs_text(root, PROC_SIZE, "/proc/self/cgroup");
	char controllers[256];
	char *rest;
	bool found = false;

	for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line && !found;
	     line = strtok_r(NULL, "\n", &rest))
		found = sscanf(line, "%*[0-9]:%255[^:]:%1023[^\n]", controllers, path) == 2 &&
			has_cpu(controllers) && path[0] == '/';
	free(text);
	return found;
}

bool facts_cgroup_cpu(const char *root, char folder[static SYSFS_TEXT])
{
	static const char *const mounts[] = {CGROUPS "/cpu", CGROUPS "/cpu,cpuacct"};
	char path[PATH_SIZE];

	if (!find_cpu_path(root, path))
		return find_own(root, folder);
	for (size_t i = 0; i < ARRAY_LENGTH(mounts); i++) {
		if (!sysfs_exists(root, "%s", mounts[i]))
			continue;
		/* A container may see its group as the mount, and the path that the host has. */
		if (!path[1] || !sysfs_exists(root, "%s%s", mounts[i], path))
			path[0] = '\0';
		snprintf(folder, SYSFS_TEXT, "%s%s", mounts[i], path);
		return true;
	}
	return find_own(root, folder);
}

bool facts_cgroup_parent(char *folder)
{
	char *last = strrchr(folder, '/');

	if (!last || (size_t)(last - folder) < strlen(CGROUPS))
		return false;
	*last = '\0';
	return true;
}

/* In the words of version 2, where no limit is "max", and not -1. */
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

/* How many processors a limit is of. */
static double processors(const char *limit)
{
	long long quota;
	long long period;

	if (sscanf(limit, "%lld %lld", &quota, &period) != 2 || period <= 0)
		return (double)INFINITY;
	return (double)quota / (double)period;
}

/* Of all groups around this one, whose limits hold as well, the one that binds. */
static void add_cpu_max(json_t *section, const char *root, const char *own)
{
	char folder[SYSFS_TEXT];
	char limit[SYSFS_NAME];
	char least[SYSFS_NAME] = "";

	snprintf(folder, sizeof(folder), "%s", own);
	do {
		if (!read_limit(root, folder, limit))
			continue;
		if (!least[0] || processors(limit) < processors(least))
			memcpy(least, limit, sizeof(least));
	} while (facts_cgroup_parent(folder));
	facts_set(section, "cpu_max", least);
}

static void add_cpu(json_t *section, const char *root)
{
	char folder[SYSFS_TEXT];
	char value[SYSFS_NAME];
	char *stat;

	if (!facts_cgroup_cpu(root, folder))
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
	char folder[SYSFS_TEXT];

	if (find_own(place->root, folder))
		facts_read(section, place->root, folder, rows, ARRAY_LENGTH(rows));
	add_cpu(section, place->root);
	return section;
}
