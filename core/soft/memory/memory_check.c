/* SPDX-License-Identifier: MIT */
#include "core/soft/memory/memory_check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/compiler.h"

enum {
	BUFFER = 4096, /* the kernel returns at most this much per read */
	HEX = 16,
};

struct mapping {
	uintptr_t from;
	uintptr_t to;
	uint64_t offset;
	uint64_t inode;
	bool is_readable;
	bool is_writable;
	bool is_memfd; /* shared memfd */
};

/* proc_pid_maps(5): 7f0012340000-7f0012350000 rw-s 00001000 00:01 1234   /memfd:x (deleted) */
static bool parse(const char *line, struct mapping *mapping)
{
	char *end;

	mapping->from = strtoull(line, &end, HEX);
	if (*end != '-')
		return false;
	mapping->to = strtoull(end + 1, &end, HEX);
	if (end[0] != ' ' || strlen(end) < sizeof(" rw-s 0") - 1)
		return false;
	mapping->is_readable = end[1] == 'r';
	mapping->is_writable = end[2] == 'w';
	mapping->is_memfd = end[4] == 's' && strstr(end, " /memfd:");
	if (!mapping->is_memfd)
		return true;
	mapping->offset = strtoull(end + 5, &end, HEX);
	end = strchr(end + strspn(end, " "), ' ');
	mapping->inode = end ? strtoull(end, NULL, 10) : 0;
	return true;
}

/*
 * Returns whether a mapping denies the wanted access. The file lists mappings by address; gaps
 * prove nothing, because other threads map and unmap concurrently. Sets *whole to the mapping that
 * contains the range, if there is one.
 */
static bool is_forbidden(FILE *maps, const struct mapping *wanted, struct mapping *whole)
{
	struct mapping mapping = {0};
	bool is_found = false;
	char *line = NULL;
	size_t size = 0;

	while (!is_found && mapping.to < wanted->to && getline(&line, &size, maps) > 0) {
		if (!parse(line, &mapping) || mapping.from >= wanted->to ||
		    mapping.to <= wanted->from)
			continue;
		is_found = !mapping.is_readable || (wanted->is_writable && !mapping.is_writable);
		if (mapping.from <= wanted->from && mapping.to >= wanted->to)
			*whole = mapping;
	}
	free(line);
	return is_found;
}

static int check_rights(const struct mapping *wanted, struct mapping *whole)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char buffer[BUFFER];
	bool result;

	if (!maps)
		return 0;
	setvbuf(maps, buffer, _IOFBF, sizeof(buffer));
	result = is_forbidden(maps, wanted, whole);
	fclose(maps);
	return result ? EFAULT : 0;
}

static bool is_of(int fd, uint64_t inode)
{
	struct stat status;

	return !fstat(fd, &status) && status.st_ino == inode && fcntl(fd, F_GET_SEALS) >= 0;
}

/* Returns a duplicate, because the program may close or reuse its own descriptor at any time. */
static int find_file(uint64_t inode)
{
	DIR *folder = opendir("/proc/self/fd");
	const struct dirent *entry;
	int fd = -1;

	while (fd < 0 && folder && (entry = readdir(folder))) {
		int number = (int)strtol(entry->d_name, NULL, 10);

		if (entry->d_name[0] == '.' || !is_of(number, inode))
			continue;
		fd = fcntl(number, F_DUPFD_CLOEXEC, 0);
		if (fd >= 0 && !is_of(fd, inode)) {
			close(fd);
			fd = -1;
		}
	}
	if (folder)
		closedir(folder);
	return fd;
}

int soft_memory_find(void *address, size_t length, bool is_written, struct soft_memory *memory)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	struct mapping whole = {0};
	const struct mapping wanted = {
		.from = (uintptr_t)address & ~(page - 1),
		.to = (uintptr_t)address + length,
		.is_writable = is_written,
	};
	int result;

	*memory = (struct soft_memory){.at = address, .fd = -1};
	if (!length || length > UINTPTR_MAX - page - (uintptr_t)address)
		return EINVAL;
	if (msync((void *)wanted.from, wanted.to - wanted.from, MS_ASYNC))
		return EFAULT;
	result = check_rights(&wanted, &whole);
	if (result || !whole.is_memfd)
		return result;
	memory->fd = find_file(whole.inode);
	memory->inode = whole.inode;
	memory->offset = whole.offset + ((uintptr_t)address - whole.from);
	return 0;
}

void soft_memory_hide(struct soft_memory *memory)
{
	if (memory->fd >= 0)
		close(memory->fd);
	memory->fd = -1;
}

void soft_memory_forget(struct soft_memory *memory)
{
	soft_memory_hide(memory);
	if (memory->mapped)
		munmap(memory->mapped, memory->size);
	memory->mapped = NULL;
}
