/* SPDX-License-Identifier: MIT */
/*
 * Memory windows of type 2 keep clients apart that have one protection domain: whether they
 * do on a device is tried on it, between queue pairs of its own, and not believed.
 */
#ifndef CORE_POOL_MEMORY_WINDOWS_H
#define CORE_POOL_MEMORY_WINDOWS_H

#include <infiniband/verbs.h>
#include <stdint.h>

#include "core/base/error.h"

/*
 * 0: a window opens a region to the queue pair that it is bound to, and what another queue pair
 * writes by its key, or its own by that of the region, is refused. -EOPNOTSUPP: what of this is
 * not so; else it could not be found out.
 */
int memory_windows_check(struct ibv_context *verbs, uint8_t port, struct error *error);

#endif
