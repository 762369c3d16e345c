/* SPDX-License-Identifier: MIT */
/*
 * The asynchronous events of a device. Each comes once, to whoever reads it first: here it
 * is read once for all in the process that listen on that device, and acknowledged when all
 * have heard it. They hear it in the watcher's thread, as watch.h has it. Meanwhile nobody waits
 * in ibv_get_async_event: afterwards the program may, as before.
 */
#ifndef CORE_VERBS_ASYNC_H
#define CORE_VERBS_ASYNC_H

#include <infiniband/verbs.h>
#include <stdbool.h>

#include "core/base/watch.h"

struct async {
	struct ibv_context *verbs;
	/* NULL: the device tells its events no more. */
	void (*hear)(struct async *async, const struct ibv_async_event *event);
	struct watch watch;
	struct async *next;
	struct async **link; /* what points to it */
	bool was_blocking;   /* its descriptor, before the first of those that are on it */
	bool is_added;
};

/* verbs and hear are filled in. */
int async_add(struct async *async, struct error *error);

/* One that was never added is fine. */
void async_remove(struct async *async);

#endif
