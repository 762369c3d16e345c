/* SPDX-License-Identifier: MIT */
/*
 * The memory of a pool and its grants. Each grant is a range of whole chunks, with a memory
 * region of exactly the requested size in its client's protection domain. So its key gives
 * no access to other memory, to other clients, or after the grant is returned. If all
 * clients share a protection domain, the region itself is not accessible; a memory window
 * over all of it is, which the caller binds to the client's queue pair. Granted memory is
 * zeroed.
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
	size_t size; /* total size, in whole chunks */
	size_t count;
	bool has_windows;        /* all clients share a domain; set after grants_open */
	struct error fault;      /* the reason for the last POOL_NO_REGION */
	struct grant *abandoned; /* grants whose regions could not be deregistered */
};

/* A grant, owned by its client. */
struct grant {
	struct grant *next;
	struct ibv_mr *mr;
	struct ibv_mw *mw; /* or NULL */
	uint32_t rkey;     /* of the region, or of the window once it is bound */
	size_t first;
	size_t n_chunks;
	uint32_t every;
	uint32_t rung; /* number of the last doorbell, from 1 */
};

/* Manages a buffer, which stays the caller's. */
int grants_open(struct grants *grants, const struct memory *memory, struct error *error);
void grants_close(struct grants *grants); /* after all grants; a zeroed one is fine */

/* Returns the bytes of the pool that a grant of that size uses. */
uint64_t grants_taken_by(const struct grants *grants, uint64_t size);

/*
 * Allocates a grant if the client may use at most left more bytes. Returns POOL_OK and the
 * grant, or the reason, leaving *grant unchanged.
 */
enum pool_status grants_take(struct grants *grants, struct ibv_pd *pd,
			     const struct pool_message *asked, uint64_t left, struct grant **grant);

/* Deallocates the grant's window, which ends access by its queue pair. */
void grant_revoke(struct grant *grant);

/*
 * Frees a grant. No queue pair may access it any more. If its region cannot be
 * deregistered, the grant keeps its chunks.
 */
int grants_give(struct grants *grants, struct grant *grant);

/*
 * The same for a grant whose client is gone. If its region cannot be deregistered,
 * grants_take and grants_close try again. The domain is deallocated with its last region.
 */
int grants_abandon(struct grants *grants, struct grant *grant);

/* Returns the value of a doorbell: the last of the writes that it covers. */
uint32_t grant_value(const struct grant *grant, uint32_t number);

/* Returns the slot of write i, from 0, in a grant of size bytes. */
static inline uint64_t grant_slot(uint64_t size, uint64_t i)
{
	return i % (size / sizeof(uint32_t));
}

#endif
