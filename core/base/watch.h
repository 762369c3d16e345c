/* SPDX-License-Identifier: MIT */
/*
 * The watcher: one thread of the process that polls whatever can end a wait from
 * outside. It starts with the first watch and ends with the last. Callbacks run
 * in it one at a time, must not block, and must not add or remove a watch; one
 * whose descriptor has come to its end sets fd to -1 and is not called for it again.
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
	 * Soon after it was added; returns when it is to be called again at the latest, which
	 * nobody but callbacks brings forward. Or NULL.
	 */
	uint64_t (*tick)(struct watch *watch, uint64_t now_ns);
	struct watch *next;
	struct watch **link; /* NULL: not added */
};

int watch_add(struct watch *watch, struct error *error);

/* Afterwards no callback of it runs any more. One that was never added is fine. */
void watch_remove(struct watch *watch);

/* Starts a thread that takes no signals: they belong to the program's own. */
int watch_start_thread(pthread_t *thread, void *(*function)(void *), void *argument);

/*
 * For callbacks only: calls visit for each watch with this fd and this callback,
 * for one that reads for all of them has to tell the others.
 */
void watch_visit(const struct watch *watch, void (*connection)(struct watch *watch, void *argument),
		 void *argument);

#endif
