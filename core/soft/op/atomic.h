/* SPDX-License-Identifier: MIT */
/*
 * FETCH_ADD and COMPARE_SWAP: read, changed and written back under a lock of the
 * target's, so that the device's own are atomic among each other.
 */
#ifndef CORE_SOFT_OP_ATOMIC_H
#define CORE_SOFT_OP_ATOMIC_H

#include <stdint.h>

#include "core/soft/op/copy.h"
#include "core/soft/op/send.h"
#include "core/soft/peer/image.h"

/* Of all atomics on the memory at that place of its owner's. */
struct soft_lock *soft_atomic_lock(struct soft_image *image, uint64_t place);

/* Returns 0 or a negative errno, as a copy does: -ESRCH also if the lock was taken away. */
int soft_atomic_do(const struct soft_peer *peer, const struct soft_span *there,
		   const struct soft_operation *operation, uint64_t *before);

/* Puts what was there before into the initiator's memory. */
void soft_atomic_return(const struct soft_span *data, uint64_t before);

#endif
