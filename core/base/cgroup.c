/* SPDX-License-Identifier: MIT */
#include "core/base/cgroup.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/sysfs.h"

/* The names of the two versions of control groups. */
struct version {
	const char *mark; /* of its line in /proc/self/cgroup */
	const char *mount;
	const char *most;
	const char *used;
	const char *cached; /* in memory.stat: what is given back where it is needed */
};

#define VERSIONS  2
#define STAT_SIZE 16384 /* of memory.stat */

static const struct version memory[VERSIONS] = {
	{"::",       "/sys/fs/cgroup",        "memory.max",            "memory.current",        "inactive_file"},
	{":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
	 "total_inactive_file"										 },
};

static const struct version tasks[VERSIONS] = {
	{"::",     "/sys/fs/cgroup",      "pids.max", "pids.current", NULL},
	{":pids:", "/sys/fs/cgroup/pids", "pids.max", "pids.current", NULL},
};

/* Returns what memory.stat says of the files that a group has in memory. */
static int64_t find_cached(const struct version *version, const char *folder)
{
	char value[SYSFS_NAME] = "";
	char *stat = version->cached ? sysfs_text(folder, STAT_SIZE, "/memory.stat") : NULL;

	sysfs_field(stat, version->cached, value, sizeof(value));
	free(stat);
	return strtoll(value, NULL, 10);
}

/* Of the one group in that folder. */
static struct cgroup_limit limit_of(const struct version *version, const char *folder)
{
	struct cgroup_limit limit = {UINT64_MAX, UINT64_MAX};
	int64_t cached;
	int64_t most;
	int64_t used;

	if (!sysfs_number(folder, &most, "/%s", version->most))
		return limit;
	limit.most = (uint64_t)most;
	if (!sysfs_number(folder, &used, "/%s", version->used))
		return limit;
	cached = find_cached(version, folder);
	used -= cached < used ? cached : used;
	limit.left = most > used ? (uint64_t)(most - used) : 0;
	return limit;
}

static void bound(struct cgroup_limit *least, struct cgroup_limit other)
{
	least->most = other.most < least->most ? other.most : least->most;
	least->left = other.left < least->left ? other.left : least->left;
}

/* A group's limit is that of all groups within it. */
static void bound_up_from(struct cgroup_limit *least, const struct version *version,
			  const char *root, const char *group)
{
	char folder[PATH_MAX];
	size_t top = (size_t)snprintf(folder, sizeof(folder), "%s%s", root, version->mount);
	size_t end = top + (size_t)snprintf(folder + top, sizeof(folder) - top, "%s", group);

	if (end >= sizeof(folder))
		return;
	for (;;) {
		bound(least, limit_of(version, folder));
		if (end <= top)
			return;
		while (end > top && folder[end] != '/')
			end--;
		folder[end] = '\0';
	}
}

struct cgroup_limit cgroup_limit(const char *root, enum cgroup_kind kind)
{
	const struct version *versions = kind == CGROUP_TASKS ? tasks : memory;
	struct cgroup_limit least = {UINT64_MAX, UINT64_MAX};
	char path[PATH_MAX];
	char line[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		for (size_t i = 0; i < VERSIONS; i++) {
			const struct version *version = &versions[i];
			const char *group = strstr(line, version->mark);

			if (group)
				bound_up_from(&least, version, root, group + strlen(version->mark));
		}
	}
	if (file)
		fclose(file);
	return least;
}
