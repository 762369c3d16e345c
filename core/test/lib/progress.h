/* SPDX-License-Identifier: MIT */
/*
 * Steps that agents make, which the test process and all of them see; and a task that
 * makes a step with each of its operations, until one fails.
 */
#ifndef CORE_TEST_LIB_PROGRESS_H
#define CORE_TEST_LIB_PROGRESS_H

#include <stdatomic.h>

#include "core/test/lib/agent.h"

extern atomic_size_t *progress;

/* A cmocka group setup. */
int progress_share(void **unused);

/* Waits until there are so many; until then neither agent may end. */
void progress_await(struct agent *one, struct agent *other, size_t steps);

/* What an agent does again and again. */
enum looping {
	LOOPING_NOT,
	LOOPING_RECV,
	LOOPING_SEND,
	LOOPING_WRITE,
	LOOPING_READ,
};

/* Goes on until it fails. */
struct task task_loop(enum looping looping);

#endif
