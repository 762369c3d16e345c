/* SPDX-License-Identifier: MIT */
#include "core/soft/memory.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	BUFFER = 4096, /* the kernel gives no more at a time */
};

struct mapping {
	uintptr_t from;
	uintptr_t to;
	bool is_readable;
	bool is_writable;
};

/* proc_pid_maps(5): 7f0012340000-7f0012350000 rw-p and what is of no interest here. */
static bool parse(const char *line, struct mapping *mapping)
{
	char *end;

	mapping->from = strtoull(line, &end, 16);
	if (*end != '-')
		return false;
	mapping->to = strtoull(end + 1, &end, 16);
	if (end[0] != ' ' || !end[1])
		return false;
	mapping->is_readable = end[1] == 'r';
	mapping->is_writable = end[2] == 'w';
	return true;
}

/* In order of addresses. Of what others map and unmap meanwhile nothing is concluded. */
static bool is_forbidden(FILE *maps, uintptr_t from, uintptr_t to, bool is_written)
{
	struct mapping mapping = {0};
	bool is_found = false;
	char *line = NULL;
	size_t size = 0;

	while (!is_found && mapping.to < to && getline(&line, &size, maps) > 0)
		is_found = parse(line, &mapping) && mapping.from < to && mapping.to > from &&
			   (!mapping.is_readable || (is_written && !mapping.is_writable));
	free(line);
	return is_found;
}

static int check_rights(uintptr_t from, uintptr_t to, bool is_written)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char buffer[BUFFER];
	bool result;

	if (!maps)
		return 0;
	setvbuf(maps, buffer, _IOFBF, sizeof(buffer));
	result = is_forbidden(maps, from, to, is_written);
	fclose(maps);
	return result ? EFAULT : 0;
}

int soft_memory_check(const void *address, size_t length, bool is_written)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = (uintptr_t)address & ~(page - 1);
	uintptr_t to = (uintptr_t)address + length;

	if (!length || length > UINTPTR_MAX - page - (uintptr_t)address)
		return EINVAL;
	if (msync((void *)from, to - from, MS_ASYNC))
		return EFAULT;
	return check_rights(from, to, is_written);
}
