/* SPDX-License-Identifier: MIT */
/*
 * The client's side of a load: the rate of a case, its schedule, and whether the sender kept to
 * it. There is one per run; the lane's thread uses it.
 */
#ifndef BENCH_CLIENT_PACING_H
#define BENCH_CLIENT_PACING_H

#include "bench/loop/load.h"
#include "bench/plan/plan.h"
#include "reports/result/result.h"

struct pacing {
	struct load load;
	struct pace seen; /* filled in by the last loop */
	double rate;      /* messages per second */
	uint64_t trial;   /* of the case; counts from 0 */
};

/* Sets the rate of one case. A percentage refers to the rate that another case measured. */
int pacing_aim(struct pacing *pacing, const struct plan *plan, const struct plan_case *wanted,
	       const struct result *result, struct error *error);

/* Returns the length of a warm-up window: long enough for a few messages, within the limits. */
uint64_t pacing_window_ns(const struct pacing *pacing, uint64_t least_ns, uint64_t most_ns);

/* Begins a trial's schedule. The warm-up uses gaps of its own. Does nothing unless it is a load. */
void pacing_begin(struct pacing *pacing, const struct plan_case *wanted, const struct clock *clock,
		  bool is_warmup);

/* Clears the figures of the last loop, before the next one starts. */
void pacing_clear(struct pacing *pacing, const struct plan_case *wanted);

/* The next schedule starts at tick `from`. Messages not sent by `give_up` are never sent. */
void pacing_span(struct pacing *pacing, const struct plan_case *wanted, uint64_t from,
		 uint64_t give_up);

int pacing_loop(struct pacing *pacing, struct lane *lane, const struct plan_case *wanted,
		const struct loop_run *run, struct error *error);

/* After a successful trial: notes how well the schedule was kept. */
int pacing_note(struct pacing *pacing, struct result_trial *found, struct error *error);

#endif
