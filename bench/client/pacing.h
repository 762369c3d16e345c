/* SPDX-License-Identifier: MIT */
/*
 * The client's side of a load: the rate that a case is to be run at, its schedule, and
 * whether it was kept. One for a run; the thread of the lane has it.
 */
#ifndef BENCH_CLIENT_PACING_H
#define BENCH_CLIENT_PACING_H

#include "bench/loop/load.h"
#include "bench/plan/plan.h"
#include "reports/result/result.h"

struct pacing {
	struct load load;
	struct pace seen; /* by the loop that ran last */
	double rate;      /* messages per second */
	uint64_t trial;   /* of the case, from 0 */
};

/* For one case: a share of the most is a share of what another one has measured. */
int pacing_aim(struct pacing *pacing, const struct plan *plan, const struct plan_case *wanted,
	       const struct result *result, struct error *error);

/* A window of the warm-up lasts so long, and has some messages. */
uint64_t pacing_window_ns(const struct pacing *pacing, uint64_t least_ns, uint64_t most_ns);

/* A trial begins. Warming up has gaps of its own. Other cases than loads have none. */
void pacing_begin(struct pacing *pacing, const struct plan_case *wanted, const struct clock *clock,
		  bool is_warmup);

/* Forgets what the last loop has seen: before the next one's time begins. */
void pacing_clear(struct pacing *pacing, const struct plan_case *wanted);

/* The next loop's schedule begins at that tick; what is not sent by the other never is. */
void pacing_span(struct pacing *pacing, const struct plan_case *wanted, uint64_t from,
		 uint64_t give_up);

int pacing_loop(struct pacing *pacing, struct lane *lane, const struct plan_case *wanted,
		const struct loop_run *run, struct error *error);

/* Of a trial that has ended well: what became of the schedule. */
int pacing_note(struct pacing *pacing, struct result_trial *found, struct error *error);

#endif
