/* SPDX-License-Identifier: MIT */
/*
 * Memory regions. A key is the number of a region and a count, and every access is
 * checked against the region: key, protection domain, rights, range. While a peer
 * copies to or from a region, a lane of its slot holds the key; deregistering waits for
 * it. What this process copies itself, it does under a lock of the queue pair.
 */
#ifndef CORE_SOFT_OP_REGION_H
#define CORE_SOFT_OP_REGION_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/soft/op/copy.h"
#include "core/soft/peer/arena.h"

enum {
	SOFT_KEY_BITS = 16,
};

/* What verbs.h knows, and what it lets be ignored. */
#define SOFT_ACCESS_KNOWN                                                                       \
	((unsigned int)(IBV_ACCESS_OPTIONAL_RANGE | IBV_ACCESS_LOCAL_WRITE |                    \
			IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |                      \
			IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED | \
			IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB))

static inline uint32_t soft_region_number(uint32_t key)
{
	return key >> SOFT_KEY_BITS;
}

/* What somebody wants of a region. */
struct soft_reach {
	uint64_t address;
	uint64_t length;
	uint32_t key;
	uint32_t pd;
	uint32_t access;
};

/* Whether the region allows it, and where its memory is in its owner. */
bool soft_region_allows(const struct soft_arena *arena, const struct soft_reach *reach,
			uint64_t *place);

/* The same, and a lane of that sender's, which holds the region; NULL: not allowed. */
_Atomic uint32_t *soft_region_enter(const struct soft_arena *arena, const struct soft_reach *reach,
				    uint32_t sender, uint64_t *place);
void soft_region_leave(_Atomic uint32_t *lane);

/* Such a lane that holds the region of a key, whatever it allows; NULL: it has gone. */
_Atomic uint32_t *soft_region_hold(const struct soft_arena *arena, uint32_t sender, uint32_t key);

/* Whether a thread of this process is in such a lane. */
bool soft_region_is_held(const struct soft_arena *arena, uint32_t key);

/*
 * Where the pieces of a list are in their owner, up to length bytes: false, and nothing
 * to be used, if one is not allowed.
 */
bool soft_region_span(const struct soft_arena *arena, const struct ibv_sge *sge, uint32_t count,
		      const struct soft_reach *wanted, struct soft_span *span);

/* A slot whose process is dead holds nothing. */
void soft_region_forget(uint32_t slot);

#endif
