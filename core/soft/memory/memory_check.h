/* SPDX-License-Identifier: MIT */
/*
 * Checks that memory may be registered: it is mapped, and the program itself has the access that it
 * grants. The check does not touch the memory, and its cost does not depend on the size.
 */
#ifndef CORE_SOFT_MEMORY_MEMORY_CHECK_H
#define CORE_SOFT_MEMORY_MEMORY_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A range of memory, and the file behind it if peers may map that; otherwise fd is -1. */
struct soft_memory {
	char *at;
	int fd; /* a duplicate, owned by this struct */
	uint64_t offset;
	uint64_t inode;
	void *mapped;    /* by the device; NULL if the program mapped it */
	size_t size;     /* of that mapping */
	bool may_vanish; /* an access may find no memory there */
	bool is_dmabuf;  /* the kernel may be unable to copy it between processes */
};

/*
 * Returns 0, EINVAL or EFAULT. If the kernel does not reveal permissions, any mapped memory passes.
 */
int soft_memory_find(void *address, size_t length, bool is_written, struct soft_memory *memory);

/* Closes the file, so that peers do not map it. */
void soft_memory_hide(struct soft_memory *memory);

/* Also unmaps what the device mapped. */
void soft_memory_forget(struct soft_memory *memory);

#endif
