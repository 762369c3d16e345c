/* SPDX-License-Identifier: MIT */
/*
 * Whether a measurement has settled: the figures of its last windows agree.
 */
#ifndef BENCH_CLIENT_WARMUP_H
#define BENCH_CLIENT_WARMUP_H

#include <stdbool.h>

#define STEADY_WINDOWS 3

struct steady {
	double last[STEADY_WINDOWS];
	unsigned int count;
};

/* Adds the figure of one window. */
void steady_add(struct steady *steady, double value);

/* The last ones lie within a twentieth of each other. */
bool steady_agrees(const struct steady *steady);

#endif
