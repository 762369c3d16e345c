/* SPDX-License-Identifier: MIT */
/* Memory that is registered on demand: no page of it need be mapped before an access. */
#ifndef CORE_SOFT_MEMORY_ON_DEMAND_H
#define CORE_SOFT_MEMORY_ON_DEMAND_H

#include <infiniband/verbs.h>

/*
 * Prefetches pages. Returns 0 or the errors of mlx5: ENOENT if a key is not of a region on demand,
 * EPERM if the region forbids the access, EFAULT if the range exceeds the region. With
 * IBV_ADVISE_MR_FLAG_FLUSH, returns EFAULT also if memory is missing.
 */
int soft_on_demand_advise(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
			  struct ibv_sge *list, uint32_t count);

#endif
