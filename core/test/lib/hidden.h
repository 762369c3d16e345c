/* SPDX-License-Identifier: MIT */
/*
 * Memory that only its kind's functions can access, like a GPU's: an array that the kind
 * hides.
 */
#ifndef CORE_TEST_LIB_HIDDEN_H
#define CORE_TEST_LIB_HIDDEN_H

#include <stdint.h>
#include <string.h>

#include "core/memory/memory.h"

/* address is the real address of the bytes, but only these functions use it. */
static inline void hidden_read(const struct memory *memory, size_t offset, void *into,
			       size_t length)
{
	memcpy(into, (const char *)(uintptr_t)memory->address + offset, length);
}

static inline void hidden_write(const struct memory *memory, size_t offset, const void *from,
				size_t length)
{
	memcpy((char *)(uintptr_t)memory->address + offset, from, length);
}

static const struct memory_kind memory_hidden = {.read = hidden_read, .write = hidden_write};

#endif
