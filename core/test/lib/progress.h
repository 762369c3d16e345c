/* SPDX-License-Identifier: MIT */
/*
 * A counter of steps shared by the agents and the test process, and a task that increments
 * it with every operation until one fails.
 */
#ifndef CORE_TEST_LIB_PROGRESS_H
#define CORE_TEST_LIB_PROGRESS_H

#include <stdatomic.h>

#include "core/test/lib/agent.h"

extern atomic_size_t *progress;

/* A cmocka group setup. */
int progress_share(void **unused);

/* Waits until that many steps are done; neither agent may finish its task before. */
void progress_await(struct agent *one, struct agent *other, size_t steps);

/* The operation that an agent repeats. */
enum looping {
	LOOPING_NOT,
	LOOPING_RECV,
	LOOPING_SEND,
	LOOPING_WRITE,
	LOOPING_READ,
};

/* Repeats the operation until it fails. */
struct task task_loop(enum looping looping);

#endif
