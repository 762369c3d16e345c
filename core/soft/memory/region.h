/* SPDX-License-Identifier: MIT */
/*
 * Memory regions. A key consists of the region's number and a counter, and every access is checked
 * against the region's key, protection domain, rights and range. While a peer copies to or from a
 * region, a lane of its slot holds the key, and deregistration waits for the lane. Local copies are
 * made under a lock of the queue pair.
 */
#ifndef CORE_SOFT_MEMORY_REGION_H
#define CORE_SOFT_MEMORY_REGION_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/soft/memory/copy.h"
#include "core/soft/peer/arena.h"

enum {
	SOFT_KEY_BITS = 16,
};

/*
 * Part of the protection domain's number for regions whose memory may vanish while they are
 * registered: memory on demand, and files that can become shorter. Ordinary accesses, which copy
 * with the CPU, are therefore rejected, and retried with this number by code that lets the kernel
 * copy and report an error.
 */
#define SOFT_CAREFUL (UINT32_C(1) << 31)

/*
 * The same for memory windows. Their keys are not valid for local memory: only remote accesses are
 * made with this flag.
 */
#define SOFT_WINDOW (UINT32_C(1) << 30)

/* Access flags that verbs.h defines, including the optional ones. */
#define SOFT_ACCESS_KNOWN                                                                       \
	((unsigned int)(IBV_ACCESS_OPTIONAL_RANGE | IBV_ACCESS_LOCAL_WRITE |                    \
			IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |                      \
			IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED | \
			IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB))

/* Access flag of null regions, whose addresses have no meaning. */
#define SOFT_ACCESS_NULL (1U << 31)

static inline uint32_t soft_region_number(uint32_t key)
{
	return key >> SOFT_KEY_BITS;
}

/* A requested access to a region. */
struct soft_reach {
	uint64_t address;
	uint64_t length;
	uint32_t key;
	uint32_t pd;
	uint32_t access;
	uint32_t qp; /* at the owner; needed for windows */
};

/* Returns whether the region allows the access, and the address in its owner. */
bool soft_region_allows(const struct soft_arena *arena, const struct soft_reach *reach,
			uint64_t *place);

/*
 * The same, and takes a lane of the sender that holds the region. Returns NULL if the access is not
 * allowed.
 */
_Atomic uint32_t *soft_region_enter(const struct soft_arena *arena, const struct soft_reach *reach,
				    uint32_t sender, uint64_t *place);
void soft_region_leave(_Atomic uint32_t *lane);

/*
 * Takes a lane that holds the region of a key without checking the access. Returns NULL if the
 * region is gone.
 */
_Atomic uint32_t *soft_region_hold(const struct soft_arena *arena, uint32_t sender, uint32_t key);

/* Returns whether a lane of this process holds the key. */
bool soft_region_is_held(const struct soft_arena *arena, uint32_t key);

/*
 * Translates a scatter/gather list to addresses in its owner, up to wanted->length bytes. Returns
 * false if a piece is not allowed; then the span must not be used.
 */
bool soft_region_span(const struct soft_arena *arena, const struct ibv_sge *sge, uint32_t count,
		      const struct soft_reach *wanted, struct soft_span *span);

/* The same, with regions whose memory may vanish among them. */
bool soft_region_span_carefully(const struct soft_arena *arena, const struct ibv_sge *sge,
				uint32_t count, const struct soft_reach *wanted,
				struct soft_span *span);

/* Releases the lanes of a slot whose process is dead. */
void soft_region_forget(uint32_t slot);

#endif
