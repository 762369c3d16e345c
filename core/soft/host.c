/* SPDX-License-Identifier: MIT */
/*
 * What libibverbs says of the machine rather than of a device.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <unistd.h>

#include "core/soft/export.h"

/* Shared memory is not written to behind a fork's back. */
SOFT_EXPORT int ibv_fork_init(void)
{
	return 0;
}

SOFT_EXPORT enum ibv_fork_status ibv_is_fork_initialized(void)
{
	return IBV_FORK_UNNEEDED;
}

SOFT_EXPORT int ibv_dontfork_range(void *base, size_t size);
SOFT_EXPORT int ibv_dofork_range(void *base, size_t size);
SOFT_EXPORT const char *ibv_get_sysfs_path(void);
SOFT_EXPORT int ibv_read_sysfs_file(const char *directory, const char *file, char *buffer,
				    size_t size);

SOFT_EXPORT int ibv_dontfork_range(void *base, size_t size)
{
	return 0;
}

SOFT_EXPORT int ibv_dofork_range(void *base, size_t size)
{
	return 0;
}

SOFT_EXPORT const char *ibv_get_sysfs_path(void)
{
	return "/sys";
}

/* The first line, and how long it is; -1: there is none, as of soft0. */
SOFT_EXPORT int ibv_read_sysfs_file(const char *directory, const char *file, char *buffer,
				    size_t size)
{
	char path[512];
	ssize_t length;
	int fd;

	if (!size || snprintf(path, sizeof(path), "%s/%s", directory, file) >= (int)sizeof(path))
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	length = read(fd, buffer, size - 1);
	close(fd);
	if (length <= 0)
		return -1;
	if (buffer[length - 1] == '\n')
		length--;
	buffer[length] = '\0';
	return (int)length;
}

SOFT_EXPORT int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	return EOPNOTSUPP;
}

SOFT_EXPORT int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	return EOPNOTSUPP;
}

SOFT_EXPORT int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	return EOPNOTSUPP;
}

SOFT_EXPORT int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	return EOPNOTSUPP;
}
