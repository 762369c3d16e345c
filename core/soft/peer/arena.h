/* SPDX-License-Identifier: MIT */
/*
 * The memory that a process shares: a sealed memfd, large and sparse, whose pages come
 * when they are touched. It begins with the image; behind it the owner allocates rings.
 * Beside it, in a file that is sealed against all other writers, is the table of the
 * memory that peers may reach. Functions return 0 or a negative errno.
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
	struct soft_image *image; /* NULL: not there */
	struct soft_memory_image *memory;
	/* Of the owner's: where the next block is, and the free ones of each size. */
	pthread_mutex_t mutex;
	uint64_t end;
	struct soft_arena_block {
		uint64_t *offset;
		size_t count;
		size_t room;
	} freed[SOFT_ARENA_CLASSES];
};

int soft_arena_create(struct soft_arena *arena);

/* Another's, whose files are taken over also when this fails. */
int soft_arena_map(struct soft_arena *arena, int fd, int memory_fd);

/* Accepts what is zeroed or half made. */
void soft_arena_finish(struct soft_arena *arena);

/* A block of zeros, as an offset; 0: no room. Only the owner allocates. */
uint64_t soft_arena_allocate(struct soft_arena *arena, uint64_t size);
void soft_arena_free(struct soft_arena *arena, uint64_t offset, uint64_t size);

/* Where a block is; NULL if it is not inside: a peer may have written anything. */
static inline void *soft_arena_at(const struct soft_arena *arena, uint64_t offset, uint64_t size)
{
	if (unlikely(offset < sizeof(struct soft_image) || offset > SOFT_ARENA_SIZE ||
		     size > SOFT_ARENA_SIZE - offset))
		return NULL;
	return (char *)arena->image + offset;
}

#endif
