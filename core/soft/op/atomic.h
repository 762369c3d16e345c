/* SPDX-License-Identifier: MIT */
/*
 * FETCH_ADD, COMPARE_SWAP and atomic writes. The value is read, changed and written back under a
 * lock in the target's arena, so that the device's atomics are atomic with respect to each other.
 * An atomic write does not read.
 */
#ifndef CORE_SOFT_OP_ATOMIC_H
#define CORE_SOFT_OP_ATOMIC_H

#include <stdint.h>

#include "core/soft/memory/copy.h"
#include "core/soft/op/send.h"
#include "core/soft/peer/image.h"

/* Returns the lock for all atomics on this address of the image's owner. */
struct soft_lock *soft_atomic_lock(struct soft_image *image, uint64_t place);

/*
 * Performs the operation and stores the old value in *before, or 0 for an atomic write. Returns 0
 * or a negative errno, as for a copy, including -ESRCH if another process took the lock over.
 */
int soft_atomic_do(const struct soft_peer *peer, const struct soft_span *remote,
		   const struct soft_operation *operation, uint64_t *before);

/* Writes the old value to the initiator's memory. */
void soft_atomic_return(const struct soft_span *data, uint64_t before);

#endif
