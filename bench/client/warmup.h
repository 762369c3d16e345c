/* SPDX-License-Identifier: MIT */
/*
 * Decides whether a measurement has converged: the figures of its last windows agree.
 */
#ifndef BENCH_CLIENT_WARMUP_H
#define BENCH_CLIENT_WARMUP_H

#include <stdbool.h>

#define WARMUP_WINDOWS 3

struct warmup {
	double last[WARMUP_WINDOWS];
	unsigned int count;
};

/* Adds the figure of one window. */
void warmup_add(struct warmup *warmup, double value);

/* Returns whether the last WARMUP_WINDOWS figures lie within 5 % of each other. */
bool warmup_agrees(const struct warmup *warmup);

#endif
