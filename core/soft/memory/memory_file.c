/* SPDX-License-Identifier: MIT */
#include "core/soft/memory/memory_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/soft/memory/memory_check.h"

int soft_memory_look(int fd, struct soft_memory_file *file)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat status;
	struct statfs system;
	off_t size;

	if (fstat(fd, &status) || fstatfs(fd, &system))
		return errno;
	file->inode = status.st_ino;
	file->is_dmabuf = system.f_type == DMA_BUF_MAGIC;
	if (!file->is_dmabuf && seals < 0)
		return EINVAL;
	size = file->is_dmabuf ? lseek(fd, 0, SEEK_END) : status.st_size;
	if (size < 0)
		return errno;
	file->size = (uint64_t)size;
	/* Huge pages may be missing even below the size of the file. */
	file->is_steady =
		file->is_dmabuf || (seals & F_SEAL_SHRINK && system.f_type == TMPFS_MAGIC);
	return 0;
}

/* A mapping of huge pages starts and ends at their boundaries. */
static uint64_t unit_of(int fd)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct stat status;

	return fstat(fd, &status) || (uint64_t)status.st_blksize < page
		       ? page
		       : (uint64_t)status.st_blksize;
}

static int map(uint64_t offset, size_t length, bool is_written, struct soft_memory *memory)
{
	uint64_t unit = unit_of(memory->fd);
	uint64_t within = offset % unit;
	int rights = PROT_READ | (is_written ? PROT_WRITE : 0);

	memory->size = (size_t)((within + length + unit - 1) / unit * unit);
	memory->mapped =
		mmap(NULL, memory->size, rights, MAP_SHARED, memory->fd, (off_t)(offset - within));
	if (memory->mapped == MAP_FAILED) {
		memory->mapped = NULL;
		return errno;
	}
	memory->at = (char *)memory->mapped + within;
	return 0;
}

int soft_memory_map(int fd, uint64_t offset, size_t length, bool is_written,
		    struct soft_memory *memory)
{
	struct soft_memory_file file;
	int result = soft_memory_look(fd, &file);

	*memory = (struct soft_memory){.fd = -1};
	if (result)
		return result;
	if (!length || offset > file.size || length > file.size - offset)
		return EINVAL;
	memory->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (memory->fd < 0)
		return errno;
	memory->offset = offset;
	memory->inode = file.inode;
	memory->may_vanish = !file.is_steady;
	memory->is_dmabuf = file.is_dmabuf;
	result = map(offset, length, is_written, memory);
	if (result)
		soft_memory_forget(memory);
	return result;
}

int soft_memory_create(size_t length, struct soft_memory *memory)
{
	int fd = memfd_create("verbmark-soft-dm", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int result;

	*memory = (struct soft_memory){.fd = -1};
	if (fd < 0)
		return errno;
	result = ftruncate(fd, (off_t)length) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK)
			 ? errno
			 : soft_memory_map(fd, 0, length, true, memory);
	close(fd);
	return result;
}
