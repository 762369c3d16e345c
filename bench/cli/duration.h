/* SPDX-License-Identifier: MIT */
/* The duration of a run in words, and an estimate of the remaining time. Reads no clock. */
#ifndef BENCH_CLI_DURATION_H
#define BENCH_CLI_DURATION_H

#include <stdbool.h>
#include <stdint.h>

#define DURATION_TEXT 48

/* Formats "45 s", "3 min 20 s" or "1 h 5 min", rounded to the last unit. */
void duration_words(char text[static DURATION_TEXT], uint64_t duration_ns);

/* The remaining time of a run. Zeroed at first. */
struct duration_left {
	bool has_begun;
	uint64_t start_ns;
	double left_ns; /* as returned last */
};

/*
 * Returns the remaining time at now_ns. The first call starts the run. done_ns and estimate_ns: the
 * estimated durations of what is done, and of the whole run. The remaining time is scaled by the
 * ratio of real to estimated time so far. From one call to the next it grows by at most a second,
 * unless the estimate was less than half of the real time.
 */
uint64_t duration_left_update(struct duration_left *left, uint64_t now_ns, uint64_t done_ns,
			      uint64_t estimate_ns);

#endif
