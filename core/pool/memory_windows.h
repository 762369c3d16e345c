/* SPDX-License-Identifier: MIT */
/*
 * Type 2 memory windows isolate clients that share a protection domain.
 * memory_windows_check tests this on a device, with queue pairs that it creates.
 */
#ifndef CORE_POOL_MEMORY_WINDOWS_H
#define CORE_POOL_MEMORY_WINDOWS_H

#include <infiniband/verbs.h>
#include <stdint.h>

#include "core/base/error.h"

/*
 * Returns 0 if the queue pair that a window is bound to can access the region, while a
 * write by another queue pair, or with the key of the region itself, is rejected. Returns
 * -EOPNOTSUPP with the property that does not hold, or another error if that could not be
 * determined.
 */
int memory_windows_check(struct ibv_context *verbs, uint8_t port, struct error *error);

#endif
