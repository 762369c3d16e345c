/* SPDX-License-Identifier: MIT */
/*
 * Memory that a device accesses: the buffers that messages are sent from and received into. A kind
 * of memory is a const struct memory_kind, declared below. The owner of a struct memory closes it;
 * a zeroed one is closed. Payload is read and written through the functions below only, since the
 * CPU may be unable to access the bytes directly.
 */
#ifndef CORE_MEMORY_MEMORY_H
#define CORE_MEMORY_MEMORY_H

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/base/error.h"

struct memory {
	const struct memory_kind *kind; /* NULL: closed */
	uint64_t address;               /* in work requests */
	char *cpu;                      /* the same bytes for the CPU; NULL: not accessible */
	size_t size;                    /* bytes, in whole pages */
	size_t page;                    /* bytes of a page */
	int file;                       /* descriptor that peers may map; 0: none */
	int numa_node;                  /* the requested node; negative: the kernel's choice */
};

struct memory_kind {
	/* Allocates zeroed memory of at least size bytes. On failure *memory may be half-built. */
	int (*allocate)(struct memory *memory, size_t size, int numa_node, struct error *error);
	/* Accepts memory that a failed allocation left half-built. */
	void (*release)(struct memory *memory);
	/* Registers length bytes from offset on. Returns NULL and sets the error on failure. */
	struct ibv_mr *(*register_region)(const struct memory *memory, size_t offset, size_t length,
					  struct ibv_pd *pd, int access, struct error *error);
	/* Copy bytes out and in. Called only for memory that the CPU cannot access. */
	void (*read)(const struct memory *memory, size_t offset, void *into, size_t length);
	void (*write)(const struct memory *memory, size_t offset, const void *from, size_t length);
};

extern const struct memory_kind memory_host;   /* ordinary pages */
extern const struct memory_kind memory_shared; /* in a sealed memfd; ordinary without one */
extern const struct memory_kind memory_huge;   /* huge pages, or an error */

/* A negative numa_node leaves the choice to the kernel. The memory is zeroed. */
int memory_open(struct memory *memory, const struct memory_kind *kind, size_t size, int numa_node,
		struct error *error);
void memory_close(struct memory *memory);

/*
 * Like memory_open, but reuses the spare memory if it is as requested, because its pages are
 * already present. Closes the spare memory otherwise.
 */
int memory_take(struct memory *memory, struct memory *spare, const struct memory_kind *kind,
		size_t size, int numa_node, struct error *error);
/* Instead of memory_close: closes *spare and moves the memory there. */
void memory_keep(struct memory *memory, struct memory *spare);

/* Returns the NUMA node of the first and the last page, or -1 if they differ or are unknown. */
int memory_node(const struct memory *memory);

/* Registers length bytes from offset on. Returns NULL and sets the error on failure. */
struct ibv_mr *memory_register(const struct memory *memory, size_t offset, size_t length,
			       struct ibv_pd *pd, int access, struct error *error);

static inline void memory_read(const struct memory *memory, size_t offset, void *into,
			       size_t length)
{
	if (likely(memory->cpu))
		memcpy(into, memory->cpu + offset, length);
	else
		memory->kind->read(memory, offset, into, length);
}

static inline void memory_write(const struct memory *memory, size_t offset, const void *from,
				size_t length)
{
	if (likely(memory->cpu))
		memcpy(memory->cpu + offset, from, length);
	else
		memory->kind->write(memory, offset, from, length);
}

/* Zeroes length bytes from offset on. */
void memory_clear(const struct memory *memory, size_t offset, size_t length);

/* Loads one byte, and whatever was written before it. Polling loops call this. */
static ALWAYS_INLINE uint8_t memory_peek(const struct memory *memory, size_t offset)
{
	uint8_t byte;

	if (likely(memory->cpu))
		return __atomic_load_n((uint8_t *)memory->cpu + offset, __ATOMIC_ACQUIRE);
	memory->kind->read(memory, offset, &byte, 1);
	return byte;
}

/* Stores one byte. */
static ALWAYS_INLINE void memory_poke(const struct memory *memory, size_t offset, uint8_t byte)
{
	if (likely(memory->cpu))
		memory->cpu[offset] = (char)byte;
	else
		memory->kind->write(memory, offset, &byte, 1);
}

#endif
