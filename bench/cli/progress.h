/* SPDX-License-Identifier: MIT */
/*
 * The line at the bottom of a terminal that tells which case is under way, and how
 * much time is left. It is wiped before anything else is printed there.
 */
#ifndef BENCH_CLI_PROGRESS_H
#define BENCH_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct progress {
	FILE *out; /* NULL: none is shown */
	uint64_t start_ns;
	uint64_t estimate_ns; /* of everything */
};

/* Shows it on a terminal, or if it is forced; estimate_ns as the plan has it. */
void progress_init(struct progress *progress, FILE *out, bool is_forced, bool is_quiet,
		   uint64_t estimate_ns);

/* Case number (from 1) of n_cases begins. done_ns: the estimate of those before it. */
void progress_show(const struct progress *progress, size_t number, size_t n_cases, const char *id,
		   uint64_t done_ns);

void progress_wipe(const struct progress *progress);

#endif
