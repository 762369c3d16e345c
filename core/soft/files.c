/* SPDX-License-Identifier: MIT */
#include "core/soft/files.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <net/if.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "core/soft/peer/process.h"
#include "core/soft/port.h"

#define NODE     "/dev/infiniband/soft0"
#define PORT     "/sys/class/infiniband/soft0/ports/1/"
#define GID_ATTR PORT "gid_attrs/"

enum {
	OPEN_COUNTERS = 64, /* that are updated; others keep the value they were opened with */
};

/* Counters of packets sent by all processes. */
static const char *const sent[] = {PORT "counters/port_xmit_packets", PORT "hw_counters/sent_pkts"};

/* Descriptors of counters. The inode identifies the memfd; 0: unused. */
static struct {
	_Atomic int fd;
	_Atomic ino_t inode;
} opened[OPEN_COUNTERS];
static pthread_mutex_t opened_mutex = PTHREAD_MUTEX_INITIALIZER; /* held to change them */
static _Atomic uint32_t n_opened;

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

static ino_t inode_of(int fd)
{
	struct stat status;

	return fstat(fd, &status) ? 0 : status.st_ino;
}

static int write_counter(int fd)
{
	char text[32];
	int result = soft_process_enter();
	int size;

	if (result)
		return fail(-result);
	size = snprintf(text, sizeof(text), "%" PRIu64 "\n",
			soft_registry_sent(&soft_process.registry));
	soft_process_leave();
	return pwrite(fd, text, (size_t)size, 0) == size ? 0 : fail(EIO);
}

/* A slot whose descriptor has been closed, or is another file, is free. */
static void remember(int fd)
{
	ino_t inode = inode_of(fd);

	pthread_mutex_lock(&opened_mutex);
	for (uint32_t i = 0; i < OPEN_COUNTERS; i++) {
		ino_t before = atomic_load(&opened[i].inode);
		int other = atomic_load(&opened[i].fd);

		if (before && other != fd && inode_of(other) == before)
			continue;
		atomic_store(&opened[i].fd, fd);
		atomic_store(&opened[i].inode, inode);
		if (i >= atomic_load(&n_opened))
			atomic_store(&n_opened, i + 1);
		break;
	}
	pthread_mutex_unlock(&opened_mutex);
}

static int open_counter(void)
{
	int fd = memfd_create("soft-counter", MFD_CLOEXEC);

	if (fd < 0)
		return -1;
	if (write_counter(fd)) {
		close(fd);
		return -1;
	}
	remember(fd);
	return fd;
}

static bool is_counter(int fd)
{
	for (uint32_t i = 0; i < atomic_load(&n_opened); i++)
		if (atomic_load(&opened[i].fd) == fd &&
		    atomic_load(&opened[i].inode) == inode_of(fd))
			return true;
	return false;
}

static bool is_counter_path(const char *path)
{
	for (size_t i = 0; i < ARRAY_LENGTH(sent); i++)
		if (!strcmp(path, sent[i]))
			return true;
	return false;
}

/* Reading a counter from its start updates it. readv is a cancellation point, as read is. */
ssize_t soft_files_read(int fd, void *into, size_t size)
{
	const struct iovec room = {.iov_base = into, .iov_len = size};

	if (unlikely(atomic_load(&n_opened)) && is_counter(fd) && !lseek(fd, 0, SEEK_CUR) &&
	    write_counter(fd))
		return -1;
	return readv(fd, &room, 1);
}

char *soft_files_realpath(const char *path, char *resolved)
{
	static char *(*real)(const char *path, char *resolved);

	if (path && is_counter_path(path))
		return resolved ? strcpy(resolved, path) : strdup(path);
	if (!real)
		real = (char *(*)(const char *, char *))dlsym(RTLD_NEXT, "realpath");
	return real(path, resolved);
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
	if (is_counter_path(path))
		return flags & (O_ACCMODE | O_DIRECTORY) ? fail(EACCES) : open_counter();
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
