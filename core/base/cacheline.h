/* SPDX-License-Identifier: MIT */
/*
 * Keeps memory that one thread writes often on cache lines of its own. CPUs fetch lines in
 * pairs, so a line here is two of them. Free the memory with free().
 */
#ifndef CORE_BASE_CACHELINE_H
#define CORE_BASE_CACHELINE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CACHELINE 128

/* Goes in front of a struct's first member, to align the struct and pad it to whole lines. */
#define CACHELINE_ALIGNED _Alignas(CACHELINE)

/* Like calloc, but allocates whole cache lines. */
static inline void *cacheline_calloc(size_t count, size_t size)
{
	size_t bytes;
	void *made;

	if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX - CACHELINE)
		return NULL;
	bytes = (bytes + CACHELINE - 1) / CACHELINE * CACHELINE;
	made = aligned_alloc(CACHELINE, bytes ? bytes : CACHELINE);
	return made ? memset(made, 0, bytes) : NULL;
}

#endif
