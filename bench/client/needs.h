/* SPDX-License-Identifier: MIT */
/*
 * Finds out which receives an operation needs at its target, by running it with an empty receive
 * queue, and with receives that have no buffer.
 */
#ifndef BENCH_CLIENT_NEEDS_H
#define BENCH_CLIENT_NEEDS_H

#include "bench/client/trial.h"

/* Sets *needs to {"receive", "buffer", "seen": {"none", "bare", "buffers"}}. */
int needs_find(struct trial *trial, const struct plan_case *wanted, json_t **needs,
	       struct error *error);

#endif
