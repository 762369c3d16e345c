/* SPDX-License-Identifier: MIT */
/*
 * One trial of a case, at the client: both ends build what it needs and connect, warm
 * up, measure, and tell each other what they saw.
 */
#ifndef BENCH_CLIENT_TRIAL_H
#define BENCH_CLIENT_TRIAL_H

#include <stdatomic.h>

#include "bench/client/pacing.h"
#include "bench/client/start_barrier.h"
#include "bench/control/control.h"
#include "bench/lane/threads.h"
#include "bench/plan/plan.h"
#include "reports/result/result.h"

/*
 * What all trials of a run have in common, and room for what one of them sees. Where a
 * case has several threads, each of the others has a part: a trial of its own, with its
 * lane and room for what it sees, which is gathered in the whole one.
 */
struct trial {
	struct lane lane;    /* of the case that is under way */
	struct memory spare; /* and of the case before it */
	struct control *control;
	const struct clock *clock;
	const struct result *result; /* the two ends */
	const char *who;             /* the server is, in what fails */
	struct start_barrier *gate;  /* before what is measured; NULL: none */
	const struct allowed_networks
		*allowed;             /* where the server's queue pairs may be; NULL: anywhere */
	const struct dial_stop *stop; /* what ends the wait for an answer; NULL: nothing */
	struct error gate_fault;
	uint64_t arrived;      /* of the last trial's messages, at the server */
	double driven;         /* while it measured: what came there, or its own, as it says */
	double received_per_s; /* of these, here, while it measured: */
	uint64_t from_ns;      /* from then; 0: it has not */
	uint64_t until_ns;
	struct hist *hist;
	struct hist *warmup; /* latencies before that; NULL: nobody asks for them */
	struct rate_windows *windows;
	struct pacing *pacing;    /* of loads */
	struct result_place near; /* of the lane, and of the server's */
	struct result_place far;
	struct effective near_chosen;
	struct effective far_chosen;
	uint64_t window_messages; /* of the warm-up's next window */
	unsigned int answer_ms;   /* for each answer of the server; 0: as long as any may take */
	bool is_lost;             /* the server cannot be reached any more */
	bool has_next;            /* the case has trials to come, behind this one */
	bool is_asked;            /* the server is, and has not said yet how to connect */
	bool is_awaited;          /* by the server, which listens for the next one already */
	json_t *listening;        /* how to connect, as it has said */
	struct threads threads;   /* of the case that is under way: */
	struct trial *others;     /* the parts of all threads but the first */
	struct trial *whole;      /* that this is a part of */
	struct result_trial seen; /* of the last trial, by this thread */
	struct shares shares;     /* of the last trial, by all */
	uint64_t origin;          /* ticks: when all of them began to measure */
	atomic_uint n_steady;     /* threads that have become so */
};

/* Whether its messages are timed, and go into hist. */
static inline bool trial_has_latency(const struct plan_case *wanted)
{
	return wanted->parameters.metric != METRIC_BW || wanted->parameters.latencies;
}

/* That of a thread. */
static inline struct trial *trial_part(struct trial *trial, unsigned int number)
{
	return number ? &trial->others[number - 1] : trial;
}

/*
 * Ahead of trial_open, and better still of something else to do: has the server make ready
 * meanwhile, where it need not know more than the case. Only that case may follow.
 */
void trial_announce(struct trial *trial, const struct plan_case *wanted);

/* Of a case: what all its trials stand on. */
int trial_open(struct trial *trial, const struct plan_case *wanted, struct error *error);
void trial_close(struct trial *trial);

/*
 * Between trial_open and trial_close: one operation, nothing else. How that went is
 * seen; an error is of the trial itself. Afterwards the lane is of no more use.
 */
int trial_probe(struct trial *trial, const struct plan_case *wanted, struct error *seen,
		struct error *error);

/* Fills in found and shares, and hist or windows. */
int trial_run(struct trial *trial, const struct plan_case *wanted, struct result_trial *found,
	      struct error *error);

#endif
