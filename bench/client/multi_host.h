/* SPDX-License-Identifier: MIT */
/*
 * Runs a plan's cases among several hosts. This process measures nothing: in each flow of a
 * pattern, one host's server runs the case against another's. All flows warm up, start when the
 * last one is ready, and their results are merged trial by trial.
 */
#ifndef BENCH_CLIENT_MULTI_HOST_H
#define BENCH_CLIENT_MULTI_HOST_H

#include "bench/client/sweep.h"

struct fleet;

/* Connects to all hosts that the plan names; with --launch, starts their servers first. */
int multi_host_open(struct fleet **fleet, const struct plan *plan, struct result *result,
		    struct error *error);

int multi_host_run(struct fleet *fleet, struct sweep_view *view, struct error *error);

/* Interrupts the cases in flight and all later ones. Called from another thread. */
void multi_host_interrupt(struct fleet *fleet);

void multi_host_close(struct fleet *fleet); /* NULL is fine */

#endif
