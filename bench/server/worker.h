/* SPDX-License-Identifier: MIT */
/* A server thread's part in a trial, with one thread of the client as its peer. */
#ifndef BENCH_SERVER_WORKER_H
#define BENCH_SERVER_WORKER_H

#include "bench/control/protocol.h"
#include "bench/lane/lane.h"
#include "reports/result/rate_windows.h"

struct worker {
	struct lane lane;
	struct rate_windows *windows; /* of the messages that it counts, if it does */
	uint64_t counted_ns;          /* for how long it counted; 0: not at all */
	struct protocol_done done;
};

/*
 * Returns whether it records when messages completed: those that arrive, if they can be lost;
 * otherwise the messages it sends itself, if it does.
 */
bool worker_counts(const struct worker *worker, const struct protocol_case *wanted);

/* Returns whether it answers each message, rather than only receiving messages or sleeping. */
bool worker_answers(const struct protocol_case *wanted);

/* Takes part until a message of the client arrives. Fills in worker->done. */
int worker_respond(struct worker *worker, const struct protocol_case *wanted, struct error *error);

/*
 * Returns how many messages it counted during the client's measurement, whose times are in stop.
 * Below 0: it did not count.
 */
double worker_counted(const struct worker *worker, const struct protocol_stop *stop);

#endif
