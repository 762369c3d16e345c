/* SPDX-License-Identifier: MIT */
/*
 * One rank of a fleet: it joins the job, exchanges rails and addresses with the others, measures its
 * pairs round by round, and reports the figures to rank 0 every few seconds. Rounds begin together,
 * by a barrier of the job. When a rank does not come to a barrier, PMIx can do nothing more for this
 * job: from then on, or from the start with --no-sync, the server of a pair waits for its client
 * instead, and nothing is measured again.
 */
#ifndef BENCH_FLEET_RANK_H
#define BENCH_FLEET_RANK_H

#include "bench/fleet/job.h"
#include "bench/fleet/rails.h"
#include "bench/fleet/schedule.h"
#include "bench/plan/plan.h"
#include "reports/fleet/fleet.h"

/* Follows the progress, at rank 0. */
struct rank_view {
	/* A round begins. n_failed: measurements that failed so far. */
	void (*begins)(struct rank_view *view, const struct fleet *fleet, uint32_t round,
		       uint32_t n_rounds, size_t n_failed);
};

struct rank_settings {
	const struct plan *plan;
	struct schedule schedule; /* its size is the job's */
	struct rails_choice rails;
	bool with_histograms;    /* keep those of all figures */
	bool is_loose;           /* rounds do not begin together */
	unsigned int timeout_ms; /* for all cases of a pair; 0: from the plan's estimate */
	unsigned int join_ms;    /* for all ranks to join */
	struct rank_view *view;
};

struct rank;

/*
 * Joins the job, and opens this rank's server. fleet has its cases; it gets its nodes. stop becomes
 * readable on a signal.
 */
int rank_open(struct rank **rank, const struct rank_settings *settings, struct fleet *fleet,
	      int stop, struct error *error);

const struct job *rank_job(const struct rank *rank);

/* Exchanges rails and addresses with all ranks. */
int rank_join(struct rank *rank, struct error *error);

/* Instead, for rank 0: makes joining fail at all other ranks, which would otherwise wait for it. */
void rank_refuse(struct rank *rank);

/*
 * Measures all rounds, and repeats what was bad. At rank 0 the fleet then has all pairs, judged.
 * Failed pairs, lost ranks and signals are no errors, but in the fleet.
 */
int rank_measure(struct rank *rank, struct error *error);

/*
 * Leaves the job. If a rank was lost, rank 0 ends the whole job with that exit status, where the
 * scheduler can do that: it might otherwise wait for a stopped rank. NULL is fine.
 */
void rank_close(struct rank *rank, int status);

#endif
