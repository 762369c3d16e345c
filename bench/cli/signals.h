/* SPDX-License-Identifier: MIT */
/*
 * The signals that end a command, as a descriptor that becomes readable when one arrives. They
 * stay blocked in this thread and the threads that it starts.
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

/*
 * Blocks those signals, except those that this program was started to ignore (nohup). Returns a
 * descriptor to read them from, which the caller closes, or a negative errno. Stores the previous
 * signal mask in *before unless that is NULL.
 */
int interrupt_block(sigset_t *before, struct error *error);

/* Blocks the signals until interrupt_close. */
int interrupt_open(struct interrupt *interrupt, struct error *error);

/* Returns whether a signal has arrived. */
bool interrupt_has_come(const struct interrupt *interrupt);

/* Restores the signal mask, and discards signals that have arrived. */
void interrupt_close(struct interrupt *interrupt);

#endif
