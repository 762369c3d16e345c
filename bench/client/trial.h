/* SPDX-License-Identifier: MIT */
/*
 * One trial of a case, at the client: both ends create the resources and connect, warm up,
 * measure, and exchange their results.
 */
#ifndef BENCH_CLIENT_TRIAL_H
#define BENCH_CLIENT_TRIAL_H

#include <stdatomic.h>

#include "bench/client/pacing.h"
#include "bench/control/control.h"
#include "bench/lane/threads.h"
#include "bench/loop/timeline.h"
#include "bench/plan/plan.h"
#include "reports/result/result.h"

/* The settings of all trials of a run. Pointers stay the caller's. */
struct trial_settings {
	struct control *control;
	const struct clock *clock;
	const struct result *result;   /* names the two ends */
	const char *who;               /* the server's name in errors */
	const struct dial_stop *stop;  /* ends the wait for an answer; NULL: nothing */
	unsigned int answer_ms;        /* for each answer; 0: the protocol's limit */
	const struct payload *payload; /* content of the client's buffers; NULL: any */
	bool has_samples;              /* each trial_lane stores the samples of a trial */
};

/* The lane of one thread, and the data of its loop. Only that thread writes it during a trial. */
struct trial_lane {
	struct lane lane;
	struct hist *hist;
	struct hist *warmup; /* latencies before the measurement */
	struct samples *samples;
	struct timeline *timeline; /* NULL: without --breakdown */
	struct rate_windows *windows;
	double received_per_s; /* messages from the server during the measurement */
	uint64_t until_ns;     /* when the measurement ended */
	struct result_trial seen;
};

/* Results of the last trial that are not in struct result_trial. */
struct trial_outcome {
	uint64_t arrived; /* messages at the server, including the warm-up */
	double driven;    /* the server's count of the measured interval; below 0: unknown */
	uint64_t from_ns; /* the measured interval, of all threads; 0: not reached */
	uint64_t until_ns;
	struct result_place client_place;
	struct result_place server_place;
	struct effective client_chosen;
	struct effective server_chosen;
	struct shares shares;
	struct receivers receivers; /* of a multicast group */
};

/*
 * The live state of a run's trials. Lanes and threads live from trial_open to trial_close.
 * A trial merges hist, warmup and windows of all threads into those of the first lane.
 */
struct trial {
	const struct trial_settings *settings;
	const struct plan_case *wanted; /* the open case; NULL: none */
	struct threads threads;
	struct trial_lane *lanes; /* one for each thread */
	struct memory spare;      /* the buffer of the previous case, for reuse */
	struct pacing *pacing;    /* needed for loads only; the caller's */
	json_t *listening;        /* the server's connection parameters */
	bool is_lost;             /* the connection to the server */
	bool has_next;            /* another trial of the case follows this one */
	bool is_asked;            /* the server is to answer with "listening" */
	bool is_awaited;          /* the server already listens for the next trial */
	uint64_t origin;          /* ticks: when all threads began to measure */
	atomic_uint n_converged;  /* threads */
	struct trial_outcome outcome;
};

/* Returns whether the case's messages are timed, so that hist is filled. */
static inline bool trial_has_latency(const struct plan_case *wanted)
{
	return wanted->parameters.metric != METRIC_BW || wanted->parameters.latencies;
}

/*
 * Sends the case to the server before trial_open, so that it prepares while the client does
 * something else. Does nothing if the server needs more than the case's parameters. Only that case
 * may follow.
 */
void trial_announce(struct trial *trial, const struct plan_case *wanted);

/* Opens the case's threads and lanes. The case stays the caller's until trial_close. */
int trial_open(struct trial *trial, const struct plan_case *wanted, struct error *error);
void trial_close(struct trial *trial);

/*
 * Runs one operation and nothing else. seen receives the operation's status; error is set only if
 * the trial itself failed. Close the lane afterwards.
 */
int trial_probe(struct trial *trial, struct error *seen, struct error *error);

/* Runs one trial. Fills in found, the outcome, and the first lane's hist or windows. */
int trial_run(struct trial *trial, struct result_trial *found, struct error *error);

#endif
