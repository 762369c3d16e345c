/* SPDX-License-Identifier: MIT */
/*
 * Whether a process was frozen by its cgroup, as docker pause does: none of its threads runs,
 * and none shows it. One whose cgroup is not to be found here is not.
 */
#ifndef CORE_SOFT_PEER_FROZEN_H
#define CORE_SOFT_PEER_FROZEN_H

#include <stdbool.h>
#include <sys/types.h>

/* /proc and /sys are below that root. */
bool soft_frozen(const char *root, pid_t process);

#endif
