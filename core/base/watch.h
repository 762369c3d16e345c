/* SPDX-License-Identifier: MIT */
/*
 * The watcher: one thread of the process that polls everything that can end a wait from
 * outside. It starts with the first watch and ends with the last one. Callbacks run in this
 * thread, one at a time. They must not block, and must not add or remove a watch. A
 * callback may set fd to -1 to stop watching the descriptor.
 */
#ifndef CORE_BASE_WATCH_H
#define CORE_BASE_WATCH_H

#include <pthread.h>
#include <stdint.h>

#include "core/base/error.h"

struct watch {
	int fd;
	void (*ready)(struct watch *watch); /* fd is readable, or just was */
	/*
	 * Called soon after the watch is added, and again no later than the time that it returned.
	 * Only a callback can bring that time forward. NULL: no tick.
	 */
	uint64_t (*tick)(struct watch *watch, uint64_t now_ns);
	struct watch *next;
	struct watch **link; /* NULL: not added */
};

int watch_add(struct watch *watch, struct error *error);

/* Removes a watch; none of its callbacks runs afterwards. One that was never added is fine. */
void watch_remove(struct watch *watch);

/* Starts a thread with all signals blocked, so that the program's own threads get them. */
int watch_start_thread(pthread_t *thread, void *(*function)(void *), void *argument);

/*
 * For callbacks only: calls `connection` for each watch with the same fd and callback, so
 * that one callback can read for all of them.
 */
void watch_visit(const struct watch *watch, void (*connection)(struct watch *watch, void *argument),
		 void *argument);

#endif
