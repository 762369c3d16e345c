/* SPDX-License-Identifier: MIT */
/*
 * What a trial passes between its warm-up and what is measured, where it is to begin
 * together with trials elsewhere.
 */
#ifndef BENCH_CLIENT_START_BARRIER_H
#define BENCH_CLIENT_START_BARRIER_H

#include "core/base/error.h"

struct alarm;

struct start_barrier {
	/* Of a case, whose trials follow: whatever ends all of them raises the alarms. */
	void (*enter)(struct start_barrier *gate, struct alarm *const *alarms, size_t count);
	void (*leave)(struct start_barrier *gate);
	/* Waits for the others. */
	int (*open)(struct start_barrier *gate, struct error *error);
};

#endif
