/* SPDX-License-Identifier: MIT */
#include "core/soft/memory/mr.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/soft/export.h"
#include "core/soft/memory/dm.h"
#include "core/soft/memory/memory_check.h"
#include "core/soft/memory/memory_file.h"
#include "core/soft/memory/mw.h"
#include "core/soft/memory/null.h"
#include "core/soft/memory/region.h"
#include "core/soft/op/pd.h"
#include "core/soft/peer/process.h"
#include "core/soft/time.h"

#define REMOTE_CHANGES ((unsigned int)(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC))
#define FLUSHES        0x300U /* global and persistent flush, from newer versions of verbs.h */

/* Access flags that the kernel and mlx5 allow for dma-bufs and device memory. */
#define OF_FILES                                                                              \
	((unsigned int)(IBV_ACCESS_OPTIONAL_RANGE | IBV_ACCESS_LOCAL_WRITE | REMOTE_CHANGES | \
			IBV_ACCESS_REMOTE_READ))

struct soft_mr {
	struct ibv_mr verbs;
	struct soft_memory memory;
	struct soft_dm *dm; /* or NULL */
};

static int check_access(unsigned int access)
{
	if (access & REMOTE_CHANGES && !(access & IBV_ACCESS_LOCAL_WRITE))
		return EINVAL;
	if (access & ~(SOFT_ACCESS_KNOWN | FLUSHES))
		return EINVAL;
	return access & FLUSHES ? EOPNOTSUPP : 0;
}

/* A registration: the memory and its addresses and rights. */
struct request {
	struct ibv_pd *pd;
	void *address; /* of the ibv_mr */
	size_t length;
	uint64_t iova;
	unsigned int access;
	struct soft_memory memory;
	struct soft_dm *dm;
};

static void publish(const struct soft_mr *own, const struct request *request)
{
	const struct ibv_mr *mr = &own->verbs;
	const struct soft_memory *memory = &own->memory;
	struct soft_region_image *region = &soft_process.arena.memory->region[mr->handle];

	region->pd = mr->pd->handle | (memory->may_vanish ? SOFT_CAREFUL : 0);
	region->access = request->access;
	region->address = (uintptr_t)memory->at;
	region->iova = request->access & IBV_ACCESS_ZERO_BASED ? 0 : request->iova;
	region->length = mr->length;
	region->file = (uint32_t)(memory->fd + 1);
	region->offset = memory->offset;
	region->inode = memory->inode;
	atomic_store(&region->key, mr->lkey);
}

/* Consumes the memory of the request. */
static struct ibv_mr *create(struct request *request)
{
	struct soft_memory *memory = &request->memory;
	struct soft_mr *mr = calloc(1, sizeof(*mr));
	uint32_t number = mr ? soft_table_take(&soft_process.regions) : 0;

	if (!number) {
		soft_memory_forget(memory);
		free(mr);
		errno = ENOMEM;
		return NULL;
	}
	if (memory->may_vanish || (soft_process.copies_by_kernel && !memory->is_dmabuf))
		soft_memory_hide(memory);
	mr->memory = *memory;
	mr->dm = request->dm;
	mr->verbs = (struct ibv_mr){
		.context = request->pd->context,
		.pd = request->pd,
		.addr = request->address,
		.length = request->length,
		.handle = number,
		.lkey = number << SOFT_KEY_BITS |
			(atomic_fetch_add(&soft_process.next_key, 1) & ((1U << SOFT_KEY_BITS) - 1)),
	};
	mr->verbs.rkey = mr->verbs.lkey;
	atomic_fetch_add(&soft_pd_of(request->pd)->users, 1);
	if (mr->dm)
		atomic_fetch_add(&mr->dm->users, 1);
	publish(mr, request);
	soft_process_count(SOFT_KIND_MR, 1);
	return &mr->verbs;
}

static struct ibv_mr *create_or_fail(struct request *request, int result)
{
	if (!result)
		return create(request);
	errno = result;
	return NULL;
}

static bool wraps(uint64_t start, uint64_t length)
{
	return length && start + (length - 1) < start;
}

/* Memory on demand may be mapped later. All of the address space is registered as SIZE_MAX. */
static int check_on_demand(const struct request *request)
{
	if (!request->length || wraps((uintptr_t)request->address, request->length))
		return EINVAL;
	if (request->length < SIZE_MAX)
		return 0;
	return request->address || request->iova || request->access & IBV_ACCESS_HUGETLB ? EINVAL
											 : 0;
}

static int find(struct request *request)
{
	struct soft_memory *memory = &request->memory;
	int result = check_access(request->access);

	if (result || wraps(request->iova, request->length))
		return result ? result : EINVAL;
	if (!(request->access & IBV_ACCESS_ON_DEMAND))
		return soft_memory_find(request->address, request->length,
					request->access & IBV_ACCESS_LOCAL_WRITE, memory);
	*memory = (struct soft_memory){.at = request->address, .fd = -1, .may_vanish = true};
	return check_on_demand(request);
}

SOFT_EXPORT struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *address, size_t length,
					    uint64_t iova, unsigned int access)
{
	struct request request = {
		.pd = pd, .address = address, .length = length, .iova = iova, .access = access};

	return create_or_fail(&request, find(&request));
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

/* Makes the checks of the kernel, which accepts no memfd, however. */
static int find_file(struct request *request, uint64_t offset, int fd)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	int result = check_access(request->access);

	if (offset % page != request->iova % page || wraps(request->iova, request->length) ||
	    request->access & ~OF_FILES)
		return EINVAL;
	return result ? result
		      : soft_memory_map(fd, offset, request->length,
					request->access & IBV_ACCESS_LOCAL_WRITE, &request->memory);
}

SOFT_EXPORT struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
					     uint64_t iova, int fd, int access)
{
	struct request request = {
		.pd = pd,
		.address = (void *)(uintptr_t)offset, /* as libibverbs returns it */
		.length = length,
		.iova = iova,
		.access = (unsigned int)access,
	};

	return create_or_fail(&request, find_file(&request, offset, fd));
}

/* Its addresses start at 0. */
static int find_in_dm(struct request *request, uint64_t offset)
{
	const struct soft_dm *dm = request->dm;
	int result = check_access(request->access);

	if (result)
		return result;
	if (!(request->access & IBV_ACCESS_ZERO_BASED) ||
	    request->access & ~(OF_FILES | IBV_ACCESS_ZERO_BASED) || !request->length ||
	    offset > dm->length || request->length > dm->length - offset)
		return EINVAL;
	request->memory = (struct soft_memory){
		.at = dm->memory.at + offset,
		.fd = fcntl(dm->memory.fd, F_DUPFD_CLOEXEC, 0),
		.offset = offset,
		.inode = dm->memory.inode,
	};
	return request->memory.fd < 0 ? errno : 0;
}

struct ibv_mr *soft_mr_create_of_dm(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset,
				    size_t length, unsigned int access)
{
	struct request request = {
		.pd = pd, .length = length, .access = access, .dm = soft_dm_of(dm)};

	return create_or_fail(&request, find_in_dm(&request, offset));
}

/* The kernel copies, as for other memory that the program may not access. */
struct ibv_mr *soft_mr_create_null(struct ibv_pd *pd)
{
	struct request request = {
		.pd = pd,
		.length = SIZE_MAX,
		.access = IBV_ACCESS_LOCAL_WRITE | SOFT_ACCESS_NULL,
		.memory = {.at = soft_null_memory(), .fd = -1, .may_vanish = true},
	};
	struct ibv_mr *mr = create_or_fail(&request, request.memory.at ? 0 : ENOMEM);

	if (mr)
		mr->length = 0;
	return mr;
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
	uint64_t look_ns;
	uint32_t generation;

	/* Most lanes hold other keys, so compare before reading the clock, which is slow. */
	if (atomic_load(lane) != key)
		return;
	look_ns = soft_time_ns() + SOFT_SECOND_NS;
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

void soft_mr_await_lanes(uint32_t key)
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

	if (region->access & IBV_ACCESS_MW_BIND && soft_mw_close_region(mr->lkey))
		return EBUSY;
	atomic_store(&region->key, 0);
	soft_process_quiesce();
	soft_copy_server_pass(&soft_process.copy_server);
	soft_mr_await_lanes(mr->lkey);
	soft_table_remove(&soft_process.regions, mr->handle);
	soft_process_count(SOFT_KIND_MR, -1);
	atomic_fetch_sub(&soft_pd_of(mr->pd)->users, 1);
	soft_memory_forget(&own->memory);
	if (own->dm)
		atomic_fetch_sub(&own->dm->users, 1);
	free(own);
	return 0;
}

SOFT_EXPORT int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *address,
			     size_t length, int access)
{
	errno = EOPNOTSUPP;
	return IBV_REREG_MR_ERR_INPUT;
}
