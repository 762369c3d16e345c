/* SPDX-License-Identifier: MIT */
/*
 * Progress of a run: a line with a bar at the bottom of a terminal, which the caller wipes before
 * printing anything else; elsewhere, complete lines now and then. Nothing is shown while a trial
 * runs, since that would disturb it.
 */
#ifndef BENCH_CLI_PROGRESS_H
#define BENCH_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bench/cli/duration.h"

struct progress {
	FILE *out;        /* NULL: progress is not shown */
	bool is_terminal; /* one line replaces itself */
	bool is_eager;    /* elsewhere: a line for each case */
	uint64_t start_ns;
	uint64_t estimate_ns; /* of the whole run */
	uint64_t shown_ns;    /* when it was last shown; 0: it is wiped */
	size_t number;        /* the case that was last shown */
	struct duration_left left;
};

/* What begins. */
struct progress_step {
	size_t number; /* from 1 on */
	size_t count;
	const char *unit;  /* what is counted, such as cases */
	const char *what;  /* the case; NULL: nothing to add */
	uint64_t trial;    /* from 1 on; 0: there are no trials */
	uint64_t n_trials; /* 0: unknown */
	uint64_t done_ns;  /* the estimate for what was done before */
};

/* Enables progress unless it is quiet. is_forced: enables it in any case, for each case. */
void progress_init(struct progress *progress, FILE *out, bool is_forced, bool is_quiet,
		   uint64_t estimate_ns);

/* Starts the elapsed and the remaining time again. */
void progress_restart(struct progress *progress, uint64_t estimate_ns);

/* Shows that a case or a trial begins. */
void progress_show(struct progress *progress, const struct progress_step *step);

void progress_wipe(struct progress *progress);

/* Formats the line for a terminal of that many columns, of which it leaves the last one free. */
#define PROGRESS_TEXT 512
void progress_format(char text[static PROGRESS_TEXT], const struct progress_step *step,
		     uint64_t elapsed_ns, uint64_t left_ns, size_t columns);

#endif
