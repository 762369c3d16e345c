/* SPDX-License-Identifier: MIT */
/*
 * One side of a gate: a verbmark command or a host. Each call runs a plan in a fresh process and
 * returns its result. No process outlives a run: one that does not end in time, or is no longer
 * wanted, is killed with everything that it started.
 */
#ifndef BENCH_GATE_RUNNER_H
#define BENCH_GATE_RUNNER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"
#include "reports/result/result.h"

#define RUNNER_WORDS_MOST 64

struct runner {
	char *words[RUNNER_WORDS_MOST + 1]; /* NULL-terminated for execvp; owned by the side */
	size_t n_words;
	bool is_host;
};

/* Options for all runs; NULL and 0 mean not given. */
struct runner_options {
	const char *host; /* for a side that is a command */
	const char *device;
	const char *server_device;
	const char *secret_file;
	uint16_t port;
};

/*
 * Fills in a zeroed side. If `what` contains a '/' or blanks, it is a command: a verbmark, or
 * words that run one. Otherwise it is a host, and this program is the client. Call runner_close
 * even on failure.
 */
int runner_open(struct runner *side, const char *what, const struct runner_options *options,
		struct error *error);

/*
 * Runs the side once with the text of a plan, for at most timeout_ms. stop is a descriptor that
 * becomes readable when the run is to end. On failure the result is zeroed and the return value is
 * -EINTR, -ETIMEDOUT, -ECHILD with what the program printed, or that of parse_text. A failed case
 * is not a failure of the run.
 */
int runner_run(const struct runner *side, const char *plan, unsigned int timeout_ms, int stop,
	       struct result *result, struct error *error);

void runner_close(struct runner *side);

#endif
