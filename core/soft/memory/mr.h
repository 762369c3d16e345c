/* SPDX-License-Identifier: MIT */
/*
 * Registers and deregisters memory. The functions are those of verbs.h, as pointers of a context:
 * see device.c.
 */
#ifndef CORE_SOFT_MEMORY_MR_H
#define CORE_SOFT_MEMORY_MR_H

#include <infiniband/verbs.h>

struct ibv_mr *soft_mr_create_of_dm(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset,
				    size_t length, unsigned int access);

/* Its lkey works for any local address: data is read as zeros, and written to nowhere. */
struct ibv_mr *soft_mr_create_null(struct ibv_pd *pd);

/* Call after the key has become invalid. Waits until no peer copies by that key. */
void soft_mr_await_lanes(uint32_t key);

#endif
