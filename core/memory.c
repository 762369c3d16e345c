/* SPDX-License-Identifier: MIT */
#include "core/memory.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The number behind the name in a file of such lines, or the one that the file is. */
static bool find_number(const char *path, const char *name, uint64_t *value)
{
	FILE *file = fopen(path, "re");
	size_t length = strlen(name);
	bool is_found = false;
	char line[256];

	if (!file)
		return false;
	while (!is_found && fgets(line, sizeof(line), file))
		is_found = !strncmp(line, name, length) &&
			   sscanf(line + length, "%" SCNu64, value) == 1; // NOLINT(cert-err34-c)
	fclose(file);
	return is_found;
}

uint64_t memory_info(const char *root, const char *name)
{
	char path[PATH_MAX];
	char begin[64];
	uint64_t value;

	snprintf(path, sizeof(path), "%s/proc/meminfo", root);
	snprintf(begin, sizeof(begin), "%s:", name);
	return find_number(path, begin, &value) ? value : 0;
}

/* The names of the two versions of control groups. */
static const struct version {
	const char *mark; /* of its line in /proc/self/cgroup */
	const char *mount;
	const char *most;
	const char *used;
	const char *cached; /* and given back where it is needed */
} versions[] = {
	{"::",       "/sys/fs/cgroup",        "memory.max",            "memory.current",        "inactive_file"},
	{":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
	 "total_inactive_file"										 },
};

/* Of the one group in that folder; UINT64_MAX: it has no limit. */
static uint64_t left_in(const struct version *version, const char *folder)
{
	uint64_t cached = 0;
	uint64_t most;
	uint64_t used;
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", folder, version->most);
	if (!find_number(path, "", &most))
		return UINT64_MAX;
	snprintf(path, sizeof(path), "%s/%s", folder, version->used);
	if (!find_number(path, "", &used))
		return UINT64_MAX;
	snprintf(path, sizeof(path), "%s/memory.stat", folder);
	find_number(path, version->cached, &cached);
	used -= cached < used ? cached : used;
	return most > used ? most - used : 0;
}

/* A group's limit is that of all groups within it. */
static uint64_t left_up_from(const struct version *version, const char *root, const char *group)
{
	uint64_t least = UINT64_MAX;
	char folder[PATH_MAX];
	size_t top = (size_t)snprintf(folder, sizeof(folder), "%s%s", root, version->mount);
	size_t end = top + (size_t)snprintf(folder + top, sizeof(folder) - top, "%s", group);

	if (end >= sizeof(folder))
		return UINT64_MAX;
	for (;;) {
		uint64_t left = left_in(version, folder);

		least = left < least ? left : least;
		if (end <= top)
			return least;
		while (end > top && folder[end] != '/')
			end--;
		folder[end] = '\0';
	}
}

static uint64_t left_in_groups(const char *root)
{
	uint64_t least = UINT64_MAX;
	char path[PATH_MAX];
	char line[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
			const char *group = strstr(line, versions[i].mark);
			uint64_t left;

			if (!group)
				continue;
			left = left_up_from(&versions[i], root, group + strlen(versions[i].mark));
			least = left < least ? left : least;
		}
	}
	if (file)
		fclose(file);
	return least;
}

uint64_t memory_available(const char *root)
{
	uint64_t of_machine = memory_info(root, "MemAvailable");
	uint64_t of_groups = left_in_groups(root);

	if (!of_machine || of_machine * 1024 > of_groups)
		return of_groups;
	return of_machine * 1024;
}
