/* SPDX-License-Identifier: MIT */
/*
 * A process's shared memory. The arena is a large, sparse, sealed memfd whose pages are allocated
 * on first touch: it starts with the image, and the owner allocates rings behind it. A second
 * memfd, sealed against writes by anyone else, holds the table of registered memory. Functions
 * return 0 or a negative errno.
 */
#ifndef CORE_SOFT_PEER_ARENA_H
#define CORE_SOFT_PEER_ARENA_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "core/soft/peer/image.h"

#define SOFT_ARENA_SIZE (UINT64_C(8) << 30)

enum {
	SOFT_ARENA_CLASSES = 34, /* powers of two */
};

struct soft_arena {
	int fd;
	int memory_fd;
	struct soft_image *image; /* NULL if the arena is not mapped */
	struct soft_memory_image *memory;
	/* Owner only: where the next block goes, and the free blocks of each size class. */
	pthread_mutex_t mutex;
	uint64_t end;
	struct soft_arena_block {
		uint64_t *offset;
		size_t count;
		size_t room;
	} freed[SOFT_ARENA_CLASSES];
};

int soft_arena_create(struct soft_arena *arena);

/* Maps a peer's arena. Takes ownership of both descriptors, even on failure. */
int soft_arena_map(struct soft_arena *arena, int fd, int memory_fd);

/* Accepts a zeroed or partly set up arena. */
void soft_arena_finish(struct soft_arena *arena);

/* Returns the offset of a zeroed block, or 0 if the arena is full. Only the owner allocates. */
uint64_t soft_arena_allocate(struct soft_arena *arena, uint64_t size);
void soft_arena_free(struct soft_arena *arena, uint64_t offset, uint64_t size);

/* Returns a block's address, or NULL if it is out of bounds: a peer may have written any offset. */
static inline void *soft_arena_at(const struct soft_arena *arena, uint64_t offset, uint64_t size)
{
	if (unlikely(offset < sizeof(struct soft_image) || offset > SOFT_ARENA_SIZE ||
		     size > SOFT_ARENA_SIZE - offset))
		return NULL;
	return (char *)arena->image + offset;
}

#endif
