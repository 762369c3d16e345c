/* SPDX-License-Identifier: MIT */
/*
 * The client's side of a run: reaches the server, picks the devices, and runs the cases of a plan,
 * one after another or with interleaved trials, over one control connection.
 */
#ifndef BENCH_CLIENT_SWEEP_H
#define BENCH_CLIENT_SWEEP_H

#include "bench/client/launch.h"
#include "bench/client/sample_file.h"
#include "bench/control/control.h"
#include "bench/control/dial.h"
#include "bench/control/secret.h"
#include "bench/host/snapshot.h"
#include "bench/lane/payload.h"
#include "bench/plan/plan.h"
#include "core/base/clock.h"
#include "reports/result/result.h"

struct sweep {
	struct launch launch; /* the server that the run started */
	const char *host;     /* address to connect to */
	const char *who;      /* the server's name in messages */
	uint16_t port;
	struct secret secret; /* shared by both ends; zeroed: none */
	struct control control;
	bool is_lost; /* the server went away during the run */
	const struct dial_stop
		*stop; /* ends the wait for the server and its answers; NULL: nothing */
	struct sample_file samples; /* the caller's; zeroed: not wanted */
	struct payload payload;     /* the caller's; zeroed: none */
	struct clock clock;
	struct snapshot snapshot; /* of the client */
	json_t *server_before;    /* noise at the server at the start */
	json_t *server_after;     /* and at the end */
	json_t *client_moved;     /* changes of the counters, over all cases */
	json_t *server_moved;
};

/* Callbacks that follow the progress of a sweep. */
struct sweep_view {
	/* Called before a case, and its trials. done_ns: the estimated part of the plan done. */
	void (*begins)(struct sweep_view *view, const struct result *result, size_t number,
		       uint64_t done_ns);
	/* A case with a budget has one more trial, and may get further ones. */
	void (*grows)(struct sweep_view *view, struct result *result);
	/* A case has ended, successfully or not. The view may change it from now on. */
	void (*ends)(struct sweep_view *view, struct result *result, size_t number);
};

/*
 * Connects and authenticates; fills in both ends and the empty cases of the result. Skips cases
 * that a device cannot run, in the plan too. If no case is left, fails as plan_check does.
 */
int sweep_open(struct sweep *sweep, struct plan *plan, struct result *result, struct error *error);

/*
 * Runs all cases. A case that fails is marked, and the run goes on. Returns an error only if the
 * server is lost; the remaining cases stay marked as interrupted. view may be NULL.
 */
int sweep_run(struct sweep *sweep, const struct plan *plan, struct result *result,
	      struct sweep_view *view, struct error *error);

/*
 * Reads the counters of both devices, at the same time, and adds the changes since the last call
 * to the case; found = NULL discards them. Returns -ESHUTDOWN, with the reason, if the server is
 * shutting down; other errors only mean that there are no counters.
 */
int sweep_note(struct sweep *sweep, struct result_case *found, struct error *error);

void sweep_close(struct sweep *sweep);

#endif
