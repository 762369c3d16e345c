/* SPDX-License-Identifier: MIT */
/*
 * The control groups of this process, version 1 and 2: its own group and the parents, whose
 * limits also apply. root is prepended to /proc and /sys; only tests set it.
 */
#ifndef CORE_BASE_CGROUP_H
#define CORE_BASE_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

#define CGROUP_FOLDER 2048

/*
 * Finds the group that has a controller, such as "cpu": its folder below root, in version 1 or
 * else in version 2. The empty name stands for the group of version 2. Returns false if the
 * process is in no such group.
 */
bool cgroup_find(const char *root, const char *controller, char folder[static CGROUP_FOLDER]);

/* Changes the folder to the parent group's. Returns false at the top. */
bool cgroup_parent(char *folder);

enum cgroup_kind {
	CGROUP_MEMORY, /* in bytes; cached files count as free, since the kernel reclaims them */
	CGROUP_TASKS,  /* processes and threads */
};

/* Minima over all groups, possibly of different groups; UINT64_MAX: no limit. */
struct cgroup_limit {
	uint64_t most;
	uint64_t left;
};

struct cgroup_limit cgroup_limit(const char *root, enum cgroup_kind kind);

#endif
