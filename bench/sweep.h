/* SPDX-License-Identifier: MIT */
/*
 * The client's side: reaches the server, picks the devices, and runs the cases of
 * a plan one after another over one control connection.
 */
#ifndef BENCH_SWEEP_H
#define BENCH_SWEEP_H

#include "bench/control.h"
#include "bench/plan.h"
#include "reports/result.h"

struct sweep {
	struct control control;
	struct clock clock;
};

/* Called as each case ends, well or not. */
typedef void sweep_report(void *argument, const struct result *result,
			  const struct result_case *ended);

/* Connects and greets; fills in both ends and the empty cases of the result. */
int sweep_open(struct sweep *sweep, const struct plan *plan, struct result *result,
	       struct error *error);

/*
 * Runs all cases. A case that fails is marked and the next one tried; an error is
 * returned only when the server is lost, and the rest stays as interrupted.
 */
int sweep_run(struct sweep *sweep, const struct plan *plan, struct result *result,
	      sweep_report *report, void *argument, struct error *error);

void sweep_close(struct sweep *sweep);

#endif
