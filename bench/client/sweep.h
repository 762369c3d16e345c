/* SPDX-License-Identifier: MIT */
/*
 * The client's side: reaches the server, picks the devices, and runs the cases of
 * a plan, one after another or in turn, over one control connection.
 */
#ifndef BENCH_CLIENT_SWEEP_H
#define BENCH_CLIENT_SWEEP_H

#include "bench/client/launch.h"
#include "bench/client/start_barrier.h"
#include "bench/control/allowed_networks.h"
#include "bench/control/control.h"
#include "bench/control/dial.h"
#include "bench/control/secret.h"
#include "bench/host/snapshot.h"
#include "bench/plan/plan.h"
#include "core/base/clock.h"
#include "reports/result/result.h"

struct sweep {
	struct launch launch; /* of a server of its own */
	const char *host;     /* that is dialled */
	const char *who;      /* that is, in what fails */
	uint16_t port;
	struct secret secret; /* that both ends have to have; zeroed: none */
	struct control control;
	bool is_lost;                           /* the server, before all was done */
	struct start_barrier *barrier;          /* of each trial; NULL: none */
	const struct allowed_networks *allowed; /* where the server may be; NULL: anywhere */
	const struct dial_stop
		*stop; /* what ends the wait for it, and for its answers; NULL: nothing */
	struct clock clock;
	struct snapshot snapshot; /* of this end */
	json_t *far_before;       /* noise at the server when it began, */
	json_t *far_after;        /* and when it ended */
	json_t *near_moved;       /* counters, of all cases */
	json_t *far_moved;
};

/* Who wants to know how it goes. */
struct sweep_view {
	/* Before a case, or one of its trials; so much of the plan is done, as it is estimated. */
	void (*begins)(struct sweep_view *view, const struct result *result, size_t number,
		       uint64_t done_ns);
	/* A case has ended, well or not, and is the view's from now on. */
	void (*ends)(struct sweep_view *view, struct result *result, size_t number);
};

/*
 * Connects and greets; fills in both ends and the empty cases of the result. Cases that
 * the two devices cannot run are skipped, in the plan too; none is left: plan_check.
 */
int sweep_open(struct sweep *sweep, struct plan *plan, struct result *result, struct error *error);

/*
 * Runs all cases. A case that fails is marked and the next one tried; an error is
 * returned only when the server is lost, and the rest stays as interrupted. view may be NULL.
 */
int sweep_run(struct sweep *sweep, const struct plan *plan, struct result *result,
	      struct sweep_view *view, struct error *error);

/*
 * What the devices have counted since the last time, as far as both ends can tell: it
 * is the case's. Without a case it is forgotten. Both look at the same time. -ESHUTDOWN: the
 * server serves no longer, and why; any other error is of no consequence but that.
 */
int sweep_note(struct sweep *sweep, struct result_case *found, struct error *error);

void sweep_close(struct sweep *sweep);

#endif
