/* SPDX-License-Identifier: MIT */
/*
 * What an operation needs of the other end's program, found out by leaving it away:
 * with an empty receive queue, and with receives that have no buffer.
 */
#ifndef BENCH_CLIENT_NEEDS_H
#define BENCH_CLIENT_NEEDS_H

#include "bench/client/trial.h"

/* Sets *needs to {"receive", "buffer", "seen": {"none", "bare", "buffers"}}. */
int needs_find(struct trial *trial, const struct plan_case *wanted, json_t **needs,
	       struct error *error);

#endif
