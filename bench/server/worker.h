/* SPDX-License-Identifier: MIT */
/* Where one thread of the server has its part in a trial, opposite one of the client's. */
#ifndef BENCH_SERVER_WORKER_H
#define BENCH_SERVER_WORKER_H

#include "bench/control/protocol.h"
#include "bench/lane/lane.h"
#include "reports/result/rate_windows.h"

struct worker {
	struct lane lane;
	struct rate_windows *windows; /* of what worker_counts, where it does, */
	uint64_t counted_ns;          /* and for how long; 0: it did not */
	struct protocol_done done;
};

/*
 * Whether it keeps when messages were through: those that come to it, where others may be lost,
 * else those of its own direction, where it has one.
 */
bool worker_counts(const struct worker *worker, const struct protocol_case *wanted);

/* Whether it throws messages back, rather than only receives them or sleeps. */
bool worker_answers(const struct protocol_case *wanted);

/* Has its part until the client speaks; done is what came of it. */
int worker_respond(struct worker *worker, const struct protocol_case *wanted, struct error *error);

/*
 * How many of those there were while the client measured, as long ago as the word of it says.
 * Below 0: it kept none.
 */
double worker_counted(const struct worker *worker, const struct protocol_stop *stop);

#endif
