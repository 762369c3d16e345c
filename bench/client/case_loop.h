/* SPDX-License-Identifier: MIT */
/* The way of a sweep through its cases: each by itself, or trial by trial in turn with others. */
#ifndef BENCH_CLIENT_CASE_LOOP_H
#define BENCH_CLIENT_CASE_LOOP_H

#include "bench/client/sweep.h"
#include "bench/client/trial.h"

struct case_loop {
	struct sweep *sweep;
	struct trial *trial;
	const struct plan *plan;
	struct result *result;
	struct sweep_view *view;
};

/* An error: the server is lost. A case that fails is marked, and the next one tried. */
int case_loop_run(const struct case_loop *loop, struct error *error);

#endif
