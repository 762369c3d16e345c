/* SPDX-License-Identifier: MIT */
/*
 * The signals that end a command, as a descriptor that is readable once one has come. They
 * are blocked from then on, in this thread and those that it starts.
 */
#ifndef BENCH_INTERRUPT_H
#define BENCH_INTERRUPT_H

#include <signal.h>

#include "core/error.h"

struct interrupt {
	int fd;
	sigset_t before;
};

int interrupt_open(struct interrupt *interrupt, struct error *error);

/* As it was before: what has come meanwhile and was read by nobody is forgotten. */
void interrupt_close(struct interrupt *interrupt);

#endif
