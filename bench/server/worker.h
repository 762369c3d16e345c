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
 * Returns whether the worker records when messages complete: the messages that arrive, if messages
 * can be lost; otherwise the messages that the worker itself sends, if any.
 */
bool worker_counts(const struct worker *worker, const struct protocol_case *wanted);

/* Returns whether the worker answers each message, instead of only receiving or sleeping. */
bool worker_answers(const struct protocol_case *wanted);

/* Takes part until a message of the client arrives. Fills in worker->done. */
int worker_respond(struct worker *worker, const struct protocol_case *wanted, struct error *error);

/*
 * Returns how many messages it counted during the client's measurement, whose times are in stop.
 * Below 0: it did not count.
 */
double worker_counted(const struct worker *worker, const struct protocol_stop *stop);

#endif
