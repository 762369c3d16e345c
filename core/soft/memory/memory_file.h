/* SPDX-License-Identifier: MIT */
/*
 * Files whose descriptor is registered: dma-bufs, and memfds in their place. The program need not
 * have mapped them, so the device maps them itself.
 */
#ifndef CORE_SOFT_MEMORY_MEMORY_FILE_H
#define CORE_SOFT_MEMORY_MEMORY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct soft_memory;

struct soft_memory_file {
	uint64_t size;
	uint64_t inode;
	bool is_dmabuf;
	bool is_steady; /* can never become shorter */
};

/* Returns 0, EBADF, or EINVAL if the file is neither a dma-buf nor a memfd. */
int soft_memory_look(int fd, struct soft_memory_file *file);

/*
 * Maps a range of the file. Returns 0 or an errno: EINVAL also if the file is too short, and the
 * errors of mmap(2).
 */
int soft_memory_map(int fd, uint64_t offset, size_t length, bool is_written,
		    struct soft_memory *memory);

/* Does the same with a new memfd for device memory, and with space for `length` bytes. */
int soft_memory_create(size_t length, struct soft_memory *memory);

#endif
