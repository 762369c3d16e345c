/* SPDX-License-Identifier: MIT */
/*
 * Device memory: a memfd of the process that allocates it, so that peers can map it. Like that of
 * ConnectX, it is small, and the program accesses it in units of four bytes.
 */
#ifndef CORE_SOFT_MEMORY_DM_H
#define CORE_SOFT_MEMORY_DM_H

#include <infiniband/verbs.h>
#include <stdatomic.h>

#include "core/base/compiler.h"
#include "core/soft/memory/memory_check.h"

enum {
	SOFT_DM_MAX = 256 << 10, /* of a process */
};

struct soft_dm {
	struct ibv_dm verbs;
	struct soft_memory memory;
	size_t length;
	_Atomic uint32_t users; /* regions */
};

static inline struct soft_dm *soft_dm_of(struct ibv_dm *dm)
{
	return CONTAINER_OF(dm, struct soft_dm, verbs);
}

struct ibv_dm *soft_dm_alloc(struct ibv_context *context, struct ibv_alloc_dm_attr *attr);
int soft_dm_free(struct ibv_dm *dm);
int soft_dm_write(struct ibv_dm *dm, uint64_t offset, const void *from, size_t length);
int soft_dm_read(void *to, struct ibv_dm *dm, uint64_t offset, size_t length);

#endif
