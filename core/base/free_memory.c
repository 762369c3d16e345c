/* SPDX-License-Identifier: MIT */
#include "core/base/free_memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/cgroup.h"
#include "core/base/sysfs.h"

#define CAP_IPC_LOCK 14
#define INFO_SIZE    16384 /* bytes of a file in /proc */

uint64_t free_memory_info(const char *root, const char *name)
{
	char *info = sysfs_text(root, INFO_SIZE, "/proc/meminfo");
	char value[SYSFS_NAME] = "";

	sysfs_field(info, name, value, sizeof(value));
	free(info);
	return strtoull(value, NULL, 10);
}

/* The kernel requires the capability in the initial user namespace. */
bool free_memory_is_exempt(const char *root)
{
	char *status = sysfs_text(root, INFO_SIZE, "/proc/self/status");
	char value[SYSFS_NAME] = "";
	unsigned int inside;
	unsigned int outside;
	unsigned int length;

	sysfs_field(status, "CapEff", value, sizeof(value));
	free(status);
	if (!(strtoull(value, NULL, 16) >> CAP_IPC_LOCK & 1))
		return false;
	if (!sysfs_line(root, value, sizeof(value), "/proc/self/uid_map"))
		return true;
	/* The initial namespace maps all ids; a created one has fewer, or others. */
	return sscanf(value, "%u %u %u", &inside, &outside, &length) == 3 && // NOLINT(cert-err34-c)
	       !inside && !outside && length == UINT32_MAX;
}

uint64_t free_memory_most(const char *root)
{
	uint64_t of_machine = free_memory_info(root, "MemTotal") * 1024;
	uint64_t of_groups = cgroup_limit(root, CGROUP_MEMORY).most;

	return !of_machine || of_machine > of_groups ? of_groups : of_machine;
}

uint64_t free_memory_available(const char *root)
{
	uint64_t of_machine = free_memory_info(root, "MemAvailable");
	uint64_t of_groups = cgroup_limit(root, CGROUP_MEMORY).left;

	if (!of_machine || of_machine * 1024 > of_groups)
		return of_groups;
	return of_machine * 1024;
}

int free_memory_refused(struct error *error, const char *what)
{
	error_set_errno(error, -ENOMEM, "cannot %s", what);
	error_append(error, "use fewer queue pairs, threads or queue entries, or raise "
			    "LimitAS (ulimit -v) or vm.overcommit_memory");
	return -ENOMEM;
}
