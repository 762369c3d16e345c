/* SPDX-License-Identifier: MIT */
#include "core/soft/peer/frozen.h"

#include <stdio.h>
#include <string.h>

enum {
	LINE = 512,
	PATH = 2 * LINE,
};

/* Whether a file has that line. */
static bool has_line(const char *path, const char *wanted)
{
	FILE *file = fopen(path, "re");
	char line[LINE];
	bool result = false;

	if (!file)
		return false;
	while (!result && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		result = !strcmp(line, wanted);
	}
	fclose(file);
	return result;
}

static bool says(const char *root, const char *hierarchy, const char *cgroup, const char *file,
		 const char *line)
{
	char path[PATH];

	return snprintf(path, sizeof(path), "%s/sys/fs/cgroup%s%s/%s", root, hierarchy, cgroup,
			file) < (int)sizeof(path) &&
	       has_line(path, line);
}

/* A line of /proc/PID/cgroup: the number of the hierarchy, its controllers, the cgroup's path. */
static bool is_frozen_by(const char *root, char *line)
{
	char *controllers = strchr(line, ':');
	char *cgroup = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!cgroup)
		return false;
	*controllers++ = *cgroup++ = '\0';
	cgroup[strcspn(cgroup, "\n")] = '\0';
	/* The second version's is at either place: beside the first version's, or alone. */
	if (!*controllers)
		return says(root, "", cgroup, "cgroup.events", "frozen 1") ||
		       says(root, "/unified", cgroup, "cgroup.events", "frozen 1");
	return !strcmp(controllers, "freezer") &&
	       says(root, "/freezer", cgroup, "freezer.state", "FROZEN");
}

bool soft_frozen(const char *root, pid_t process)
{
	char path[PATH];
	char line[LINE];
	bool result = false;
	FILE *file;

	snprintf(path, sizeof(path), "%.255s/proc/%d/cgroup", root, (int)process);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!result && fgets(line, sizeof(line), file))
		result = is_frozen_by(root, line);
	fclose(file);
	return result;
}
