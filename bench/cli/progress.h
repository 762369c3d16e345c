/* SPDX-License-Identifier: MIT */
/*
 * The progress line at the bottom of a terminal, with the current case and the remaining time. The
 * caller wipes it before printing anything else.
 */
#ifndef BENCH_CLI_PROGRESS_H
#define BENCH_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct progress {
	FILE *out; /* NULL: progress is not shown */
	uint64_t start_ns;
	uint64_t estimate_ns; /* of the whole run */
};

/* Enables progress if out is a terminal, or if it is forced. */
void progress_init(struct progress *progress, FILE *out, bool is_forced, bool is_quiet,
		   uint64_t estimate_ns);

/* Shows that a case begins, counted from 1. done_ns is the estimate for the cases before it. */
void progress_show(const struct progress *progress, size_t number, size_t n_cases, const char *id,
		   uint64_t done_ns);

void progress_wipe(const struct progress *progress);

#endif
