/* SPDX-License-Identifier: MIT */
#include "core/soft/memory/region.h"

#include <sched.h>

#include "core/soft/memory/null.h"
#include "core/soft/peer/process.h"

static ALWAYS_INLINE bool allows(const struct soft_arena *arena, const struct soft_reach *reach,
				 uint64_t *place)
{
	const struct soft_region_image *region =
		&arena->memory->region[soft_region_number(reach->key)];
	uint64_t offset;

	if (!reach->key || atomic_load(&region->key) != reach->key || region->pd != reach->pd)
		return false;
	offset = reach->address - region->iova;
	if ((region->access & reach->access) != reach->access || offset > region->length ||
	    reach->length > region->length - offset)
		return false;
	*place = region->address + offset;
	if (unlikely(region->access & SOFT_ACCESS_NULL))
		*place = region->address +
			 (reach->access & IBV_ACCESS_LOCAL_WRITE ? SOFT_NULL_BYTES : 0);
	return true;
}

static bool is_valid_window(const struct soft_arena *arena, const struct soft_reach *reach)
{
	uint32_t number = soft_region_number(reach->key);
	uint32_t qp = soft_image_read(&arena->memory->region[number].qp);

	return atomic_load(&arena->image->revoked[number]) != reach->key &&
	       (!qp || qp == reach->qp);
}

bool soft_region_allows(const struct soft_arena *arena, const struct soft_reach *reach,
			uint64_t *place)
{
	return allows(arena, reach, place) &&
	       (likely(!(reach->pd & SOFT_WINDOW)) || is_valid_window(arena, reach));
}

/* After this, either the deregistering thread sees the lane, or the caller finds the key gone. */
static _Atomic uint32_t *take_lane(const struct soft_arena *arena, uint32_t sender, uint32_t key)
{
	struct soft_lanes *lanes =
		&arena->image->lanes[soft_process.registry.slot][sender % SOFT_SENDERS];

	for (unsigned int i = 0;; i = (i + 1) % SOFT_LANES) {
		uint32_t free = 0;

		if (atomic_compare_exchange_strong(&lanes->key[i], &free, key))
			return &lanes->key[i];
		if (i == SOFT_LANES - 1)
			sched_yield();
	}
}

_Atomic uint32_t *soft_region_enter(const struct soft_arena *arena, const struct soft_reach *reach,
				    uint32_t sender, uint64_t *place)
{
	_Atomic uint32_t *lane;

	/* Key 0 would mark the lane as free, and releasing it would free another thread's lane. */
	if (!reach->key)
		return NULL;
	lane = take_lane(arena, sender, reach->key);
	if (soft_region_allows(arena, reach, place))
		return lane;
	soft_region_leave(lane);
	return NULL;
}

_Atomic uint32_t *soft_region_hold(const struct soft_arena *arena, uint32_t sender, uint32_t key)
{
	_Atomic uint32_t *lane = take_lane(arena, sender, key);

	if (atomic_load(&arena->memory->region[soft_region_number(key)].key) == key)
		return lane;
	soft_region_leave(lane);
	return NULL;
}

void soft_region_leave(_Atomic uint32_t *lane)
{
	atomic_store_explicit(lane, 0, memory_order_release);
}

bool soft_region_is_held(const struct soft_arena *arena, uint32_t key)
{
	const struct soft_lanes *lanes = arena->image->lanes[soft_process.registry.slot];

	for (unsigned int i = 0; i < SOFT_SENDERS * SOFT_LANES; i++)
		if (atomic_load(&lanes[i / SOFT_LANES].key[i % SOFT_LANES]) == key)
			return true;
	return false;
}

/* Adds a piece to the span. Returns false if the access is not allowed. */
static ALWAYS_INLINE bool soft_region_add(const struct soft_arena *arena, const struct ibv_sge *sge,
					  const struct soft_reach *wanted, struct soft_span *span)
{
	uint64_t left = wanted->length - span->length;
	const struct soft_reach reach = {
		.address = sge->addr,
		.length = sge->length < left ? sge->length : left,
		.key = sge->lkey,
		.pd = wanted->pd,
		.access = wanted->access,
	};
	uint64_t place;

	if (!reach.length)
		return true;
	if (!allows(arena, &reach, &place))
		return false;
	span->key[span->count] = reach.key;
	span->piece[span->count++] = (struct iovec){(void *)(uintptr_t)place, (size_t)reach.length};
	span->length += reach.length;
	return true;
}

bool soft_region_span(const struct soft_arena *arena, const struct ibv_sge *sge, uint32_t count,
		      const struct soft_reach *wanted, struct soft_span *span)
{
	span->count = 0;
	span->length = 0;
	span->access = wanted->access;
	span->way = SOFT_DIRECT;
	/* Most lists have one element. */
	if (likely(count == 1))
		return soft_region_add(arena, sge, wanted, span);
	for (uint32_t i = 0; i < count && span->length < wanted->length; i++)
		if (!soft_region_add(arena, &sge[i], wanted, span))
			return false;
	return true;
}

COLD bool soft_region_span_carefully(const struct soft_arena *arena, const struct ibv_sge *sge,
				     uint32_t count, const struct soft_reach *wanted,
				     struct soft_span *span)
{
	struct soft_reach careful = *wanted;

	careful.pd |= SOFT_CAREFUL;
	*span = (struct soft_span){.access = wanted->access, .way = SOFT_BY_KERNEL};
	for (uint32_t i = 0; i < count && span->length < wanted->length; i++)
		if (!soft_region_add(arena, &sge[i], wanted, span) &&
		    !soft_region_add(arena, &sge[i], &careful, span))
			return false;
	return true;
}

void soft_region_forget(uint32_t slot)
{
	struct soft_lanes *lanes = soft_process.arena.image->lanes[slot];

	for (unsigned int sender = 0; sender < SOFT_SENDERS; sender++)
		for (unsigned int i = 0; i < SOFT_LANES; i++)
			atomic_store(&lanes[sender].key[i], 0);
}
