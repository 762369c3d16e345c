/* SPDX-License-Identifier: MIT */
/*
 * One copy between this process's memory and a peer's, or its own; where the kernel
 * keeps the peer's closed, its copy server makes it. Functions return 0 or a negative errno:
 * -ESRCH of a process that died, -EFAULT of memory that is not there any more. As an adapter
 * does, a short one may go past what a process has forbidden itself meanwhile (mprotect(2)).
 */
#ifndef CORE_SOFT_OP_COPY_H
#define CORE_SOFT_OP_COPY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "core/soft/device.h"

struct soft_peer;

/* Pieces of memory, in whoever's address space. */
struct soft_span {
	uint64_t length;
	unsigned int count;
	struct iovec piece[SOFT_SGE_MAX + 1]; /* a GRH in front of the rest */
	/* For the copy server of a target: */
	uint32_t qp; /* its index */
	uint32_t access;
	uint32_t key[SOFT_SGE_MAX + 1];
	bool is_held; /* lanes keep its regions while it is copied */
};

int soft_copy_to(const struct soft_peer *peer, const struct soft_span *there,
		 const struct soft_span *here);
int soft_copy_from(const struct soft_peer *peer, const struct soft_span *there,
		   const struct soft_span *here);

/* The bytes of a span of this process's memory, one after the other. */
void soft_copy_gather(void *to, const struct soft_span *span);

#endif
