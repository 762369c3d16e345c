/* SPDX-License-Identifier: MIT */
/*
 * What may be registered: memory that is there, and that its program may use in the way
 * that it grants. Looking changes nothing, and takes as long for much as for little.
 */
#ifndef CORE_SOFT_MEMORY_H
#define CORE_SOFT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* 0, EINVAL, or EFAULT. Where the kernel does not tell the rights, what is there has them. */
int soft_memory_check(const void *address, size_t length, bool is_written);

#endif
