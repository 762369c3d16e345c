/* SPDX-License-Identifier: MIT */
#include "core/base/cgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/base/sysfs.h"

#define GROUPS    "/sys/fs/cgroup"
#define PATH_SIZE (CGROUP_FOLDER / 2)
#define FILE_SIZE 16384 /* of memory.stat and /proc/self/cgroup */

/* The names of files in the two versions of control groups. */
static const struct kind {
	const char *controller;
	struct files {
		const char *most; /* NULL: as in version 2 */
		const char *used;
		const char *cached; /* in memory.stat: bytes that the kernel frees on demand */
	} files[2];
} kinds[] = {
	[CGROUP_MEMORY] = {"memory",
			   {{"memory.max", "memory.current", "inactive_file"},
			    {"memory.limit_in_bytes", "memory.usage_in_bytes",
			     "total_inactive_file"}}                     },
	[CGROUP_TASKS] = {"pids",   {{"pids.max", "pids.current", NULL}}},
};

static bool is_listed(const char *list, const char *controller)
{
	size_t length = strlen(controller);

	for (size_t size; *list; list += size + (list[size] == ',')) {
		size = strcspn(list, ",");
		if (size == length && !memcmp(list, controller, length))
			return true;
	}
	return false;
}

/* Version 1 has a line "4:cpu,cpuacct:/path" of a controller, version 2 one line "0::/path". */
static bool find_path(const char *text, const char *controller, char path[static PATH_SIZE])
{
	char controllers[256];

	while (text && *text) {
		if (sscanf(text, "%*[0-9]:%255[^:\n]:%1023[^\n]", controllers, path) == 2 &&
		    is_listed(controllers, controller) && path[0] == '/')
			return true;
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return false;
}

static bool find_in_version_1(const char *root, const char *text, const char *controller,
			      char folder[static CGROUP_FOLDER])
{
	static const char *const others[] = {"", ",cpuacct"};
	char path[PATH_SIZE];
	char mount[64];

	if (!find_path(text, controller, path))
		return false;
	for (size_t i = 0; i < ARRAY_LENGTH(others); i++) {
		snprintf(mount, sizeof(mount), GROUPS "/%s%s", controller, others[i]);
		if (!sysfs_exists(root, "%s", mount))
			continue;
		/* In a container, the mount may be its group, but the path the host's. */
		if (!path[1] || !sysfs_exists(root, "%s%s", mount, path))
			path[0] = '\0';
		snprintf(folder, CGROUP_FOLDER, "%s%s", mount, path);
		return true;
	}
	return false;
}

bool cgroup_find(const char *root, const char *controller, char folder[static CGROUP_FOLDER])
{
	char *text = sysfs_text(root, FILE_SIZE, "/proc/self/cgroup");
	const char *unified = GROUPS "/unified";
	char path[PATH_SIZE];
	bool is_found = find_in_version_1(root, text, controller, folder);

	if (!is_found && sysfs_field(text, "0:", path, sizeof(path)) && path[0] == '/') {
		is_found = true;
		snprintf(folder, CGROUP_FOLDER, "%s%s",
			 sysfs_exists(root, "%s", unified) ? unified : GROUPS, path[1] ? path : "");
	}
	free(text);
	return is_found;
}

bool cgroup_parent(char *folder)
{
	char *last = strrchr(folder, '/');

	if (!last || (size_t)(last - folder) < strlen(GROUPS))
		return false;
	*last = '\0';
	return true;
}

/* Returns the size of the files that the group has in memory. */
static int64_t read_cached(const struct files *files, const char *root, const char *folder)
{
	char *stat = files->cached ? sysfs_text(root, FILE_SIZE, "%s/memory.stat", folder) : NULL;
	char value[SYSFS_NAME] = "";

	sysfs_field(stat, files->cached, value, sizeof(value));
	free(stat);
	return strtoll(value, NULL, 10);
}

/* Reads the limit of one group. */
static struct cgroup_limit read_limit(const struct files *files, const char *root,
				      const char *folder)
{
	struct cgroup_limit limit = {UINT64_MAX, UINT64_MAX};
	int64_t cached;
	int64_t most;
	int64_t used;

	if (!files->most || !sysfs_number(root, &most, "%s/%s", folder, files->most))
		return limit;
	limit.most = (uint64_t)most;
	if (!sysfs_number(root, &used, "%s/%s", folder, files->used))
		return limit;
	cached = read_cached(files, root, folder);
	used -= cached < used ? cached : used;
	limit.left = most > used ? (uint64_t)(most - used) : 0;
	return limit;
}

static void bound(struct cgroup_limit *least, struct cgroup_limit other)
{
	least->most = other.most < least->most ? other.most : least->most;
	least->left = other.left < least->left ? other.left : least->left;
}

struct cgroup_limit cgroup_limit(const char *root, enum cgroup_kind kind)
{
	struct cgroup_limit least = {UINT64_MAX, UINT64_MAX};
	char folder[CGROUP_FOLDER];

	if (!cgroup_find(root, kinds[kind].controller, folder))
		return least;
	do
		for (size_t i = 0; i < ARRAY_LENGTH(kinds[kind].files); i++)
			bound(&least, read_limit(&kinds[kind].files[i], root, folder));
	while (cgroup_parent(folder));
	return least;
}
