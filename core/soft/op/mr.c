/* SPDX-License-Identifier: MIT */
/* Registers and deregisters memory. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "core/soft/export.h"
#include "core/soft/op/memory_check.h"
#include "core/soft/op/pd.h"
#include "core/soft/op/region.h"
#include "core/soft/peer/process.h"
#include "core/soft/time.h"

#define REMOTE_CHANGES ((unsigned int)(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC))
#define UNSUPPORTED    ((unsigned int)(IBV_ACCESS_MW_BIND | IBV_ACCESS_ON_DEMAND))
#define FLUSHES        0x300U /* global and persistent flush, from newer versions of verbs.h */

struct soft_mr {
	struct ibv_mr verbs;
	struct soft_memory memory;
};

static int check_access(unsigned int access)
{
	if (access & REMOTE_CHANGES && !(access & IBV_ACCESS_LOCAL_WRITE))
		return EINVAL;
	if (access & ~(SOFT_ACCESS_KNOWN | FLUSHES))
		return EINVAL;
	return access & (UNSUPPORTED | FLUSHES) ? EOPNOTSUPP : 0;
}

static void publish(const struct soft_mr *own, uint64_t iova, unsigned int access)
{
	const struct ibv_mr *mr = &own->verbs;
	struct soft_region_image *region = &soft_process.arena.memory->region[mr->handle];

	region->pd = mr->pd->handle;
	region->access = access;
	region->address = (uintptr_t)mr->addr;
	region->iova = access & IBV_ACCESS_ZERO_BASED ? 0 : iova;
	region->length = mr->length;
	region->file = (uint32_t)(own->memory.fd + 1);
	region->offset = own->memory.offset;
	region->inode = own->memory.inode;
	atomic_store(&region->key, mr->lkey);
}

SOFT_EXPORT struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *address, size_t length,
					    uint64_t iova, unsigned int access)
{
	struct soft_memory memory = {.fd = -1};
	struct soft_mr *mr = NULL;
	uint32_t number;
	int result = check_access(access);

	if (!result && length && iova + (length - 1) < iova)
		result = EINVAL;
	if (!result)
		result =
			soft_memory_find(address, length, access & IBV_ACCESS_LOCAL_WRITE, &memory);
	if (soft_process.copies_by_kernel)
		soft_memory_forget(&memory);
	if (result)
		goto fail;
	result = ENOMEM;
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		goto fail;
	number = soft_table_take(&soft_process.regions);
	if (!number)
		goto fail;
	mr->memory = memory;
	mr->verbs = (struct ibv_mr){
		.context = pd->context,
		.pd = pd,
		.addr = address,
		.length = length,
		.handle = number,
		.lkey = number << SOFT_KEY_BITS |
			(atomic_fetch_add(&soft_process.next_key, 1) & ((1U << SOFT_KEY_BITS) - 1)),
	};
	mr->verbs.rkey = mr->verbs.lkey;
	atomic_fetch_add(&soft_pd_of(pd)->users, 1);
	publish(mr, iova, access);
	soft_process_count(SOFT_KIND_MR, 1);
	return &mr->verbs;
fail:
	soft_memory_forget(&memory);
	free(mr);
	errno = result;
	return NULL;
}

SOFT_EXPORT struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *address, size_t length, int access)
{
	return ibv_reg_mr_iova2(pd, address, length, (uintptr_t)address, (unsigned int)access);
}

SOFT_EXPORT struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *address, size_t length,
					   uint64_t iova, int access)
{
	return ibv_reg_mr_iova2(pd, address, length, iova, (unsigned int)access);
}

/*
 * Waits until a peer leaves a lane. A dead peer copies no more, even if a child keeps its sockets
 * open. If all threads of a peer are stopped, no kernel copy is in progress. The peer may be about
 * to start one, or be copying through a window; then the end of that message arrives after
 * deregistration, which is better than waiting until somebody resumes the peer. Releasing a lane
 * that is already free is harmless.
 */
static void await_lane(uint32_t slot, const _Atomic uint32_t *lane, uint32_t key)
{
	const struct soft_registry *registry = &soft_process.registry;
	uint64_t look_ns = soft_time_ns() + SOFT_SECOND_NS;
	uint32_t generation;

	while (atomic_load(lane) == key) {
		sched_yield();
		if (soft_time_ns() < look_ns)
			continue;
		generation = soft_registry_generation(registry, slot);
		if (soft_registry_is_stopped(registry, slot, generation) ||
		    !soft_registry_is_alive(registry, slot, generation))
			return;
		look_ns = soft_time_ns() + SOFT_SECOND_NS;
	}
}

static void await_slot(uint32_t slot, uint32_t key)
{
	const struct soft_lanes *lanes = soft_process.arena.image->lanes[slot];

	for (unsigned int sender = 0; sender < SOFT_SENDERS; sender++)
		for (unsigned int i = 0; i < SOFT_LANES; i++)
			await_lane(slot, &lanes[sender].key[i], key);
}

static void await_lanes(uint32_t key)
{
	uint32_t slots = atomic_load(&soft_process.guest_slots);

	if (slots <= soft_process.registry.slot)
		slots = soft_process.registry.slot + 1;
	for (uint32_t slot = 1; slot < slots; slot++)
		await_slot(slot, key);
}

SOFT_EXPORT int ibv_dereg_mr(struct ibv_mr *mr)
{
	struct soft_region_image *region = &soft_process.arena.memory->region[mr->handle];
	struct soft_mr *own = CONTAINER_OF(mr, struct soft_mr, verbs);

	atomic_store(&region->key, 0);
	soft_process_quiesce();
	soft_copy_server_pass(&soft_process.copy_server);
	await_lanes(mr->lkey);
	soft_table_remove(&soft_process.regions, mr->handle);
	soft_process_count(SOFT_KIND_MR, -1);
	atomic_fetch_sub(&soft_pd_of(mr->pd)->users, 1);
	soft_memory_forget(&own->memory);
	free(own);
	return 0;
}

SOFT_EXPORT int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *address,
			     size_t length, int access)
{
	errno = EOPNOTSUPP;
	return IBV_REREG_MR_ERR_INPUT;
}

SOFT_EXPORT struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
					     uint64_t iova, int fd, int access)
{
	errno = EOPNOTSUPP;
	return NULL;
}
