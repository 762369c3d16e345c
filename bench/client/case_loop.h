/* SPDX-License-Identifier: MIT */
/* Runs the cases of a sweep, one after another, or with the trials of several interleaved. */
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

/* A case that fails is marked, and the loop goes on. Returns an error if the server is lost. */
int case_loop_run(const struct case_loop *loop, struct error *error);

#endif
