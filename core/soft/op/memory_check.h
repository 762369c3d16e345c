/* SPDX-License-Identifier: MIT */
/*
 * Checks that memory may be registered: it is mapped, and the program itself has the access that it
 * grants. The check does not touch the memory, and its cost does not depend on the size.
 */
#ifndef CORE_SOFT_OP_MEMORY_CHECK_H
#define CORE_SOFT_OP_MEMORY_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The memfd behind a range of memory, if the program has it open; otherwise fd is -1. */
struct soft_memory {
	int fd; /* a duplicate, owned by this struct */
	uint64_t offset;
	uint64_t inode;
};

/*
 * Returns 0, EINVAL or EFAULT. If the kernel does not reveal permissions, any mapped memory passes.
 */
int soft_memory_find(const void *address, size_t length, bool is_written,
		     struct soft_memory *memory);
void soft_memory_forget(struct soft_memory *memory);

#endif
