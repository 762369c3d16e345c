/* SPDX-License-Identifier: MIT */
/*
 * The server's side of one client: greets it and runs the cases that it asks for,
 * each with resources of its own, until it goes.
 */
#ifndef BENCH_RESPONDER_H
#define BENCH_RESPONDER_H

#include <stdbool.h>

#include "bench/control.h"
#include "core/device.h"

/*
 * Offers that device, or all (NULL). Returns 0 when the client has said all it wanted; the error says why else. With a
 * token only a client that has it is served. *is_known: it was one to be served.
 */
int responder_run(struct control *control, const char *device, const char *token, bool *is_known,
		  struct error *error);

/* From another thread: ends whatever it waits for; the client is told why. */
void responder_end(struct control *control, const char *reason);

#endif
