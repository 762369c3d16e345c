/* SPDX-License-Identifier: MIT */
/* The state of a rank, and what the files that implement rank.h share. One thread uses it. */
#ifndef BENCH_FLEET_RANK_PARTS_H
#define BENCH_FLEET_RANK_PARTS_H

#include <errno.h>

#include "bench/fleet/node_server.h"
#include "bench/fleet/rank.h"
#include "bench/fleet/round.h"

/* Time that rank 0 may need to collect what all ranks have reported. */
#define COLLECT_MS 20000

struct rank {
	const struct rank_settings *settings;
	struct schedule schedule;
	struct job job;
	struct fleet *fleet; /* at other ranks than 0, with this rank's own pairs alone */
	struct node_server server;
	struct pair_server *servers; /* by rank */
	bool *is_gone;               /* by rank: did not answer */
	size_t *n_taken;             /* by rank, at rank 0: pairs that it has reported */
	bool has_joined;
	bool is_loose;        /* the two ends of a pair meet on their own */
	bool is_broken;       /* a barrier of the job has failed */
	size_t n_sent;        /* of the fleet's pairs: reported to rank 0 */
	uint64_t reported_ns; /* when this rank last reported */
	uint32_t turn;        /* rounds so far, including retests */
	unsigned int timeout_ms;
	unsigned int round_ms; /* most that a round takes */
	bool is_leaving;       /* a signal came: it no longer ends what is sent */
	struct dial_stop stop;
};

static inline bool rank_is_first(const struct rank *rank)
{
	return rank->job.rank == 0;
}

/* Returns whether a connection failed because of the other rank or the network. */
static inline bool rank_is_unreachable(int code)
{
	return code == -ECONNREFUSED || code == -ECONNRESET || code == -ETIMEDOUT ||
	       code == -ECONNABORTED || code == -EPIPE || code == -EHOSTUNREACH ||
	       code == -ENETUNREACH;
}

/* rank_rounds.c */

/*
 * Passes a barrier of the job. If it fails, ranks go on without barriers. Fails only on a signal,
 * and with -EHOSTDOWN if rank 0 has ended.
 */
int rank_meet_all(struct rank *rank, unsigned int timeout_ms, struct error *error);

/* Begins the next round: from now on, its meetings are admitted. Fails as rank_meet_all does. */
int rank_begin_round(struct rank *rank, struct error *error);

/* Measures a pair as its client. Fails only on a signal or without memory. */
int rank_drive(struct rank *rank, const struct round_pair *pair, struct error *error);

/* Measures the whole schedule. */
int rank_run_schedule(struct rank *rank, struct error *error);

/* rank_reports.c */

/* Reports now and then, so that little is lost if this rank dies. */
void rank_report_early(struct rank *rank);

/* Ends a phase: rank 0 gets the figures of all ranks that are left. */
int rank_end_phase(struct rank *rank, struct error *error);

/* After a signal: rank 0 takes what the others still report. */
void rank_leave(struct rank *rank);

/* rank_retests.c */

/* Measures bad pairs once more. */
int rank_run_retest(struct rank *rank, unsigned int retest, struct error *error);

#endif
