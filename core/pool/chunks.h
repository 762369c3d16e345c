/* SPDX-License-Identifier: MIT */
/*
 * Which chunks of a pool are taken: a bit for each. A range is the lowest that is long
 * enough. Whoever took one gives it back as it was.
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

/* -ENOMEM. */
int chunks_open(struct chunks *chunks, size_t count);
void chunks_close(struct chunks *chunks); /* a zeroed one is fine */

/* The first of so many in a row, which are taken; SIZE_MAX: there are none. */
size_t chunks_take(struct chunks *chunks, size_t count);
void chunks_give(struct chunks *chunks, size_t first, size_t count);

/* The longest range that is free. */
size_t chunks_longest(const struct chunks *chunks);

#endif
