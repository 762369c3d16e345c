/* SPDX-License-Identifier: MIT */
/*
 * Asynchronous events of a device. Only one reader gets each event, so all listeners in the
 * process share one reader per device, in the watcher's thread (see watch.h). An event is
 * acknowledged after all listeners have handled it. Reads do not block; the program may
 * call ibv_get_async_event again once the last listener is removed.
 */
#ifndef CORE_VERBS_ASYNC_H
#define CORE_VERBS_ASYNC_H

#include <infiniband/verbs.h>
#include <stdbool.h>

#include "core/base/watch.h"

struct async {
	struct ibv_context *verbs;
	/* event is NULL if the device no longer reports events. */
	void (*handle)(struct async *async, const struct ibv_async_event *event);
	struct watch watch;
	struct async *next;
	struct async **link; /* the pointer that points here */
	bool was_blocking;   /* whether the descriptor was blocking before the first listener */
	bool is_added;
};

/* The caller sets verbs and handle. */
int async_add(struct async *async, struct error *error);

/* Removes a listener; one that was never added is fine. */
void async_remove(struct async *async);

#endif
