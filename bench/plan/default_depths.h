/* SPDX-License-Identifier: MIT */
/* Defaults of queue depths, and of how many posts share a completion. */
#ifndef BENCH_PLAN_DEFAULT_DEPTHS_H
#define BENCH_PLAN_DEFAULT_DEPTHS_H

#include "bench/plan/operation.h"

/* Receives of a stream, as perftest has them. */
#define DEFAULT_DEPTHS_RECEIVES 512

/* The other parameters that it goes by are chosen before. */
void default_depths_choose(const struct operation *op, struct parameters *parameters);

/*
 * Returns how many posts of an end share one completion: --cq-mod. A server that sends where only
 * its own completions tell the client how far it has come signals more often.
 */
unsigned int default_depths_signal_every(const struct operation *op, const struct parameters *p,
					 bool is_server);

#endif
