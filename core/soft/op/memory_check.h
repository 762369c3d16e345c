/* SPDX-License-Identifier: MIT */
/*
 * What may be registered: memory that is there, and that its program may use in the way
 * that it grants. Looking changes nothing, and takes as long for much as for little.
 */
#ifndef CORE_SOFT_OP_MEMORY_CHECK_H
#define CORE_SOFT_OP_MEMORY_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A memfd that memory is part of, if it is and the program has it open; fd is -1 otherwise. */
struct soft_memory {
	int fd; /* a descriptor of its own */
	uint64_t offset;
	uint64_t inode;
};

/* 0, EINVAL, or EFAULT. Where the kernel does not tell the rights, what is there has them. */
int soft_memory_find(const void *address, size_t length, bool is_written,
		     struct soft_memory *memory);
void soft_memory_forget(struct soft_memory *memory);

#endif
