/* SPDX-License-Identifier: MIT */
/*
 * Copies between local memory and a peer's. If the kernel denies access to the peer's memory, its
 * copy server makes the copy. Functions return 0 or a negative errno: -ESRCH if the process died,
 * -EFAULT if the memory is gone. A short copy may ignore protection that the process changed after
 * registration (mprotect(2)), as on an adapter.
 */
#ifndef CORE_SOFT_MEMORY_COPY_H
#define CORE_SOFT_MEMORY_COPY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "core/soft/device.h"

struct soft_peer;

/* How to reach the memory of a span. */
enum soft_way {
	SOFT_DIRECT,
	SOFT_HELD,      /* lanes hold the regions during the copy: peers may map them */
	SOFT_BY_KERNEL, /* it may vanish: the kernel copies and reports an error */
};

/* Pieces of memory in the address space of one process. */
struct soft_span {
	uint64_t length;
	unsigned int count;
	struct iovec piece[SOFT_SGE_MAX + 1]; /* with room for a GRH at the front */
	/* For a target's copy server: */
	uint32_t qp;  /* the queue pair's index */
	uint32_t srq; /* XRC: the number of the SRQ that the request names */
	uint32_t access;
	uint32_t key[SOFT_SGE_MAX + 1];
	enum soft_way way;
};

int soft_copy_to(const struct soft_peer *peer, const struct soft_span *remote,
		 const struct soft_span *local);
int soft_copy_from(const struct soft_peer *peer, const struct soft_span *remote,
		   const struct soft_span *local);

/*
 * Copies between spans of this process, of the same length. Returns -EFAULT if memory of either is
 * missing or protected.
 */
int soft_copy_carefully(const struct soft_span *to, const struct soft_span *from);

/* Copies the bytes of a local span to a contiguous buffer. */
void soft_copy_gather(void *to, const struct soft_span *span);

#endif
