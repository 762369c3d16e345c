/* SPDX-License-Identifier: MIT */
/*
 * Allocates ranges of chunks of a pool, with one bit per chunk. A range is the lowest one
 * that is long enough. The caller returns each range exactly as it was allocated.
 */
#ifndef CORE_POOL_CHUNKS_H
#define CORE_POOL_CHUNKS_H

#include <stddef.h>
#include <stdint.h>

struct chunks {
	uint64_t *bits;
	size_t count;
	size_t used;
};

/* Returns 0 or -ENOMEM. */
int chunks_open(struct chunks *chunks, size_t count);
void chunks_close(struct chunks *chunks); /* a zeroed one is fine */

/*
 * Takes count consecutive chunks. Returns the first one, or SIZE_MAX if no range is long
 * enough.
 */
size_t chunks_take(struct chunks *chunks, size_t count);
void chunks_give(struct chunks *chunks, size_t first, size_t count);

/* Returns the length of the longest free range. */
size_t chunks_longest(const struct chunks *chunks);

#endif
