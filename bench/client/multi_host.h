/* SPDX-License-Identifier: MIT */
/*
 * A plan among several hosts, seen from here, where nothing is measured: each flow of a
 * pattern is a case that one host's server runs against another's. All of them warm up,
 * and begin when the last one is ready; what they saw is put together, trial by trial.
 */
#ifndef BENCH_CLIENT_MULTI_HOST_H
#define BENCH_CLIENT_MULTI_HOST_H

#include "bench/client/sweep.h"

struct fleet;

/* Reaches all hosts that the plan names, or starts their servers. */
int multi_host_open(struct fleet **fleet, const struct plan *plan, struct result *result,
		    struct error *error);

int multi_host_run(struct fleet *fleet, struct sweep_view *view, struct error *error);

/* From another thread: ends what is under way, and is the reason for all that follows. */
void multi_host_interrupt(struct fleet *fleet);

void multi_host_close(struct fleet *fleet); /* NULL is fine */

#endif
