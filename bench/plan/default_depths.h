/* SPDX-License-Identifier: MIT */
/* Default queue depths, and how many posts share a completion. */
#ifndef BENCH_PLAN_DEFAULT_DEPTHS_H
#define BENCH_PLAN_DEFAULT_DEPTHS_H

#include "bench/plan/operation.h"

/* Receives posted for a stream; the same as in perftest. */
#define DEFAULT_DEPTHS_RECEIVES 512

/* Chooses the depths. The parameters that they depend on must already be set. */
void default_depths_choose(const struct operation *op, struct parameters *parameters);

/*
 * Returns how many posts share one completion (--cq-mod). In a bidirectional case, the server
 * signals more posts if only its own completions show the progress of its direction.
 */
unsigned int default_depths_signal_every(const struct operation *op, const struct parameters *p,
					 bool is_server);

#endif
