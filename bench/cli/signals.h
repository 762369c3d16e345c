/* SPDX-License-Identifier: MIT */
/*
 * The signals that end a command, as a descriptor that is readable once one has come. They
 * are blocked from then on, in this thread and those that it starts.
 */
#ifndef BENCH_CLI_SIGNALS_H
#define BENCH_CLI_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

#include "core/base/error.h"

struct interrupt {
	int fd;
	sigset_t before;
};

/* Those signals, but what the starter of this program has them ignored: nohup, say. */
void interrupt_signals(sigset_t *signals);

int interrupt_open(struct interrupt *interrupt, struct error *error);

bool interrupt_has_come(const struct interrupt *interrupt);

/* As it was before: what has come meanwhile and was read by nobody is forgotten. */
void interrupt_close(struct interrupt *interrupt);

#endif
