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

/*
 * Blocks those signals, except those that this program was started to ignore (nohup). Returns a
 * descriptor to read them from, which the caller closes, or a negative errno; before: the mask
 * until then, or NULL.
 */
int interrupt_block(sigset_t *before, struct error *error);

int interrupt_open(struct interrupt *interrupt, struct error *error);

bool interrupt_has_come(const struct interrupt *interrupt);

/* As it was before: what has come meanwhile and was read by nobody is forgotten. */
void interrupt_close(struct interrupt *interrupt);

#endif
