/* SPDX-License-Identifier: MIT */
#include "core/pool/chunks.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define BITS 64

int chunks_open(struct chunks *chunks, size_t count)
{
	*chunks = (struct chunks){.bits = calloc(count / BITS + 1, sizeof(*chunks->bits)),
				  .count = count};
	return chunks->bits ? 0 : -ENOMEM;
}

void chunks_close(struct chunks *chunks)
{
	free(chunks->bits);
	*chunks = (struct chunks){0};
}

static bool is_taken(const struct chunks *chunks, size_t i)
{
	return chunks->bits[i / BITS] >> (i % BITS) & 1;
}

static void turn(struct chunks *chunks, size_t first, size_t count)
{
	for (size_t i = first; i < first + count; i++)
		chunks->bits[i / BITS] ^= 1ULL << (i % BITS);
}

/* Returns the end of the free range that starts at first, after at most `most` chunks. */
static size_t end_of(const struct chunks *chunks, size_t first, size_t most)
{
	size_t end = first;

	while (end < chunks->count && end - first < most && !is_taken(chunks, end))
		end++;
	return end;
}

size_t chunks_take(struct chunks *chunks, size_t count)
{
	for (size_t first = 0; count && count <= chunks->count - first;) {
		size_t end = end_of(chunks, first, count);

		if (end - first == count) {
			turn(chunks, first, count);
			chunks->used += count;
			return first;
		}
		if (end == chunks->count)
			break;
		first = end + 1;
	}
	return SIZE_MAX;
}

void chunks_give(struct chunks *chunks, size_t first, size_t count)
{
	turn(chunks, first, count);
	chunks->used -= count;
}

size_t chunks_longest(const struct chunks *chunks)
{
	size_t longest = 0;

	for (size_t first = 0; first < chunks->count;) {
		size_t end = end_of(chunks, first, SIZE_MAX);

		if (end - first > longest)
			longest = end - first;
		first = end + 1;
	}
	return longest;
}
