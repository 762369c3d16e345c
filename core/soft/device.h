/* SPDX-License-Identifier: MIT */
/*
 * soft0 and its contexts. The attributes it reports are honest: a nonexistent vendor, firmware
 * "soft", and limits that it enforces.
 */
#ifndef CORE_SOFT_DEVICE_H
#define CORE_SOFT_DEVICE_H

#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "core/base/compiler.h"
#include "core/soft/op/event.h"
#include "core/soft/peer/image.h"

enum {
	SOFT_SGE_MAX = 32,
	SOFT_INLINE_MAX = 1024,
	SOFT_WR_MAX = 32768,
	SOFT_CQE_MAX = 1 << 20,
	SOFT_RD_ATOMIC_MAX = 128,
	SOFT_VECTORS = 1,
};

struct soft_context {
	struct soft_events events;
	struct verbs_context verbs;
	pid_t pid; /* of the opener; a forked child only frees its copy */
	struct soft_context *next;
};

static inline struct soft_context *soft_device_context(struct ibv_context *context)
{
	return CONTAINER_OF(context, struct soft_context, verbs.context);
}

/* Reports an event of the port or the device to all contexts. */
void soft_device_report(enum ibv_event_type type);

#endif
