/* SPDX-License-Identifier: MIT */
/*
 * The memory of a pool, and what was granted of it: each grant is a range of whole chunks
 * and a region of its own, as long as was asked for, in the protection domain of whom it is
 * for. So its key opens nothing beside it, nothing after it was given back, and nothing to
 * anybody else. Where all have one domain, the region itself is closed, and opened by a
 * window over all of it, which its owner binds to one queue pair. What is granted is zero.
 */
#ifndef CORE_POOL_GRANTS_H
#define CORE_POOL_GRANTS_H

#include <infiniband/verbs.h>
#include <stdbool.h>

#include "core/base/error.h"
#include "core/memory/memory.h"
#include "core/pool/chunks.h"
#include "core/pool/message.h"

struct grants {
	const struct memory *memory;
	struct chunks chunks;
	size_t size; /* of all of it: whole chunks */
	size_t count;
	bool has_windows;   /* all have one domain; to be set after grants_open */
	struct error fault; /* of the last POOL_NO_REGION: why */
	struct grant *left; /* nobody's, of which the regions have refused to go */
};

/* Owned by whom it is for. */
struct grant {
	struct grant *next;
	struct ibv_mr *mr;
	struct ibv_mw *mw; /* NULL: there is none */
	uint32_t rkey;     /* that opens it: of a window, once that is bound with it */
	size_t first;
	size_t n_chunks;
	uint32_t every;
	uint32_t rung; /* the number of the last doorbell, from 1 */
};

/* Of a buffer that stays the caller's. */
int grants_open(struct grants *grants, const struct memory *memory, struct error *error);
void grants_close(struct grants *grants); /* after all grants; a zeroed one is fine */

/* The bytes of the pool that a grant of that size takes. */
uint64_t grants_taken_by(const struct grants *grants, uint64_t size);

/*
 * POOL_OK, and a grant; else why not, and *grant is as it was. No more is left to whom it is
 * for than that.
 */
enum pool_status grants_take(struct grants *grants, struct ibv_pd *pd,
			     const struct pool_message *asked, uint64_t left, struct grant **grant);

/* From here on nothing opens its window, and no queue pair has it. */
void grant_shut(struct grant *grant);

/* Nobody's queue pair may be under way in it. A region that refuses to go keeps its chunks. */
int grants_give(struct grants *grants, struct grant *grant);

/*
 * The same of one that nobody will give again: if its region refuses, that is asked to go before
 * each one that is taken, and at the end, and its domain, if it was the last in it.
 */
int grants_leave(struct grants *grants, struct grant *grant);

/* What a doorbell of that number tells of: the last of every writes before it. */
uint32_t grant_value(const struct grant *grant, uint32_t number);

/* The slot that write number i, from 0, goes to, of so many bytes. */
static inline uint64_t grant_slot(uint64_t size, uint64_t i)
{
	return i % (size / sizeof(uint32_t));
}

#endif
