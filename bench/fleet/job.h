/* SPDX-License-Identifier: MIT */
/*
 * The job that a scheduler runs: its ranks, the values that they exchange, and their barriers, all
 * through PMIx. Without libpmix at build time, job_open fails and says so. Called by one thread;
 * every wait ends early when a signal arrives.
 */
#ifndef BENCH_FLEET_JOB_H
#define BENCH_FLEET_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"

struct job_link;

struct job {
	uint32_t rank;
	uint32_t size;
	uint32_t local_rank; /* among the ranks of this host */
	uint32_t local_size;
	char host[64];     /* as the scheduler names it */
	char launcher[32]; /* "slurm", "openmpi" or "pmix" */
	int stop;          /* readable when the job is to end, from signals.h; -1: nothing is */
	struct job_link *link;
};

/* Joins the job. A process without a launcher is a job of one rank. */
int job_open(struct job *job, int stop, struct error *error);

/* Leaves the job. Not to be called after job_meet has failed: it could wait forever. */
void job_close(struct job *job);

/* Instead: ends all ranks of the job, with that exit status, if the launcher is Slurm. */
void job_end(struct job *job, int status);

/*
 * Publishes a value, which all ranks see after the next job_meet. Publish little, because each
 * barrier sends all values again, and each key once: with libpmix 4.2 under Open MPI, other ranks
 * sometimes miss a value that replaces another.
 */
int job_publish(struct job *job, const char *key, const char *text, struct error *error);

/*
 * Waits until all ranks have called it. Fails with -EINTR on a signal, and with -ETIMEDOUT if a
 * rank does not come. After a failure, job_meet must not be called again: the barrier that failed is
 * still in progress.
 */
int job_meet(struct job *job, unsigned int timeout_ms, struct error *error);

/*
 * Gets a value that a rank published before the last job_meet. -ENODATA: it published none. The
 * caller frees *text.
 */
int job_get(const struct job *job, uint32_t rank, const char *key, char **text,
	    struct error *error);

#endif
