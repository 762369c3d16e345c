/* SPDX-License-Identifier: MIT */
/*
 * One side of a gate: a verbmark of its own, or a host of its own, that runs a plan in a
 * fresh process each time and gives back the result. Nothing outlives a run: what does not
 * end in time, or is not wanted any more, is ended with all that it started.
 */
#ifndef BENCH_GATE_RUNNER_H
#define BENCH_GATE_RUNNER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"
#include "reports/result/result.h"

#define RUNNER_WORDS_MOST 64

struct runner {
	char *words[RUNNER_WORDS_MOST + 1]; /* as execvp wants them, ended by NULL; its own */
	size_t n_words;
	bool is_host;
};

/* What all its runs are told; NULL and 0: not at all. */
struct runner_options {
	const char *host; /* of a side that is a command */
	const char *device;
	const char *server_device;
	const char *secret_file;
	uint16_t port;
};

/*
 * What has a '/' or blanks is a command: a verbmark, or words that run one. Else it is a
 * host, to which this program is the client. A zeroed side is filled in; runner_close releases
 * it, however this ends.
 */
int runner_open(struct runner *side, const char *what, const struct runner_options *options,
		struct error *error);

/*
 * Runs it once, with the text of a plan, for at most that long. stop: a descriptor that is
 * readable once it is to end. The result is zeroed where it fails: -EINTR, -ETIMEDOUT,
 * -ECHILD with what the program said, or that of parse_text. A case that fails there is none.
 */
int runner_run(const struct runner *side, const char *plan, unsigned int timeout_ms, int stop,
	       struct result *result, struct error *error);

void runner_close(struct runner *side);

#endif
