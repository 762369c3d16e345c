/* SPDX-License-Identifier: MIT */
/*
 * The memory of null regions (ibv_alloc_null_mr), one mapping per process: zeros to read from, and
 * behind them a part of the same size whose content nobody reads.
 */
#ifndef CORE_SOFT_MEMORY_NULL_H
#define CORE_SOFT_MEMORY_NULL_H

#include "core/soft/port.h"

/* Bytes of each part: no message is longer. */
#define SOFT_NULL_BYTES ((size_t)SOFT_MESSAGE_MAX)

/* Returns the mapping, which stays until the process ends, or NULL. */
void *soft_null_memory(void);

#endif
