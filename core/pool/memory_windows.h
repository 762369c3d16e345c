/* SPDX-License-Identifier: MIT */
/*
 * Type 2 memory windows isolate clients that share a protection domain. Whether they do so
 * on a device is tested between queue pairs of its own.
 */
#ifndef CORE_POOL_MEMORY_WINDOWS_H
#define CORE_POOL_MEMORY_WINDOWS_H

#include <infiniband/verbs.h>
#include <stdint.h>

#include "core/base/error.h"

/*
 * Returns 0 if a window gives the queue pair it is bound to access to a region, while a
 * write by another queue pair, or with the key of the region itself, is rejected. Returns
 * -EOPNOTSUPP with the property that does not hold, or another error if that could not be
 * determined.
 */
int memory_windows_check(struct ibv_context *verbs, uint8_t port, struct error *error);

#endif
