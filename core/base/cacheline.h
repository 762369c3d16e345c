/* SPDX-License-Identifier: MIT */
/*
 * Memory that one thread writes often is on cache lines of its own. Processors fetch lines
 * in pairs, so that two of them count as one here. What was allocated goes by free().
 */
#ifndef CORE_BASE_CACHELINE_H
#define CORE_BASE_CACHELINE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CACHELINE 128

/* In front of a struct's first member: it begins, and ends, with a line. */
#define CACHELINE_ALIGNED _Alignas(CACHELINE)

/* As calloc does, but of whole lines. */
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
