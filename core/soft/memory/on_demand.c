/* SPDX-License-Identifier: MIT */
#include "core/soft/memory/on_demand.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/soft/memory/region.h"
#include "core/soft/peer/process.h"

/* Before Linux 5.14, the kernel does not know the request, and nothing is fetched. */
static int fetch(uint64_t from, uint64_t length, int how)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t within = from % page;
	void *start = (void *)(uintptr_t)(from - within);

	if (!madvise(start, length + within, how))
		return 0;
	return madvise(start, 0, how) ? 0 : EFAULT;
}

static int advise(const struct ibv_pd *pd, enum ibv_advise_mr_advice advice, bool reports,
		  const struct ibv_sge *sge)
{
	bool is_write = advice == IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
	const struct soft_region_image *region =
		&soft_process.arena.memory->region[soft_region_number(sge->lkey)];
	const struct soft_reach reach = {
		.address = sge->addr,
		.length = sge->length,
		.key = sge->lkey,
		.pd = pd->handle | SOFT_CAREFUL,
		.access = is_write ? IBV_ACCESS_LOCAL_WRITE : 0,
	};
	uint64_t place;
	int result;

	if (!reach.key || atomic_load(&region->key) != reach.key ||
	    !(region->access & IBV_ACCESS_ON_DEMAND))
		return ENOENT;
	if (region->pd != reach.pd || (region->access & reach.access) != reach.access)
		return EPERM;
	if (!soft_region_allows(&soft_process.arena, &reach, &place))
		return EFAULT;
	if (advice == IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
		return 0;
	result = fetch(place, reach.length, is_write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
	return reports ? result : 0;
}

int soft_on_demand_advise(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
			  struct ibv_sge *list, uint32_t count)
{
	int result = 0;

	if (advice > IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
		return EOPNOTSUPP;
	if (flags & ~(uint32_t)IBV_ADVISE_MR_FLAG_FLUSH || !count)
		return EINVAL;
	for (uint32_t i = 0; i < count && !result; i++)
		result = advise(pd, advice, flags & IBV_ADVISE_MR_FLAG_FLUSH, &list[i]);
	return result;
}
