/* SPDX-License-Identifier: MIT */
#include "core/soft/files.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/soft/peer/process.h"
#include "core/soft/port.h"

#define NODE     "/dev/infiniband/soft0"
#define GID_ATTR "/sys/class/infiniband/soft0/ports/1/gid_attrs/"

static int fail(int error)
{
	errno = error;
	return -1;
}

/* A character device that anyone may open stands for the node. */
static const char *redirect(const char *path)
{
	return strcmp(path, NODE) ? path : "/dev/null";
}

/* Writes what the kernel's file of a GID contains. Returns false if it does not exist. */
static bool describe_gid(const char *attribute, char text[static IF_NAMESIZE + 1])
{
	const struct soft_image *image = soft_process.arena.image;
	uint32_t index;
	char more;

	if (sscanf(attribute, "types/%u%c", &index, &more) == 1 && soft_port_gid(image, index))
		return stpcpy(text, "RoCE v2\n");
	if (sscanf(attribute, "ndevs/%u%c", &index, &more) != 1 || !soft_port_gid(image, index) ||
	    !if_indextoname(image->interface[index], text))
		return false;
	strcat(text, "\n");
	return true;
}

static int open_text(const char *text)
{
	int fd = memfd_create("soft-gid", MFD_CLOEXEC);
	size_t size = strlen(text);

	if (fd >= 0 && pwrite(fd, text, size, 0) != (ssize_t)size) {
		close(fd);
		return fail(EIO);
	}
	return fd;
}

static int open_gid(const char *attribute)
{
	char text[IF_NAMESIZE + 1];
	int result = soft_process_enter();
	bool exists;

	if (result)
		return fail(-result);
	exists = describe_gid(attribute, text);
	soft_process_leave();
	return exists ? open_text(text) : fail(ENOENT);
}

int soft_files_open(const char *path, int flags, ...)
{
	va_list more;
	mode_t mode;

	if (!path)
		return fail(EFAULT);
	if (!strncmp(path, GID_ATTR, sizeof(GID_ATTR) - 1))
		return flags & (O_ACCMODE | O_DIRECTORY) ? fail(EACCES)
							 : open_gid(path + sizeof(GID_ATTR) - 1);
	va_start(more, flags);
	mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(more, mode_t) : 0;
	va_end(more);
	return openat(AT_FDCWD, redirect(path), flags, mode);
}

int soft_files_stat(const char *path, struct stat *status)
{
	return path ? fstatat(AT_FDCWD, redirect(path), status, 0) : fail(EFAULT);
}

int soft_files_access(const char *path, int mode)
{
	return path ? faccessat(AT_FDCWD, redirect(path), mode, 0) : fail(EFAULT);
}
