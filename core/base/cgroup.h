/* SPDX-License-Identifier: MIT */
/*
 * The limits of the control groups that this process is in: of its own one, and of all
 * around it, whose limits hold as well. Of both versions; what is missing is no limit.
 */
#ifndef CORE_BASE_CGROUP_H
#define CORE_BASE_CGROUP_H

#include <stdint.h>

enum cgroup_kind {
	CGROUP_MEMORY, /* bytes; files that are cached are given back, and count as left */
	CGROUP_TASKS,  /* processes and threads */
};

/* Each the least of all groups, which may be of different ones; UINT64_MAX: none has one. */
struct cgroup_limit {
	uint64_t most;
	uint64_t left;
};

/* root stands before /proc and /sys: it is empty but for tests. */
struct cgroup_limit cgroup_limit(const char *root, enum cgroup_kind kind);

#endif
