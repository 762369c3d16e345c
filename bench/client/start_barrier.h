/* SPDX-License-Identifier: MIT */
/*
 * What a trial passes between its warm-up and what is measured, where it is to begin
 * together with trials elsewhere.
 */
#ifndef BENCH_CLIENT_START_BARRIER_H
#define BENCH_CLIENT_START_BARRIER_H

#include "core/base/error.h"

struct alarm;

struct gate {
	/* Of a case, whose trials follow: whatever ends all of them raises the alarms. */
	void (*enter)(struct gate *gate, struct alarm *const *alarms, size_t count);
	void (*leave)(struct gate *gate);
	/* Waits for the others. */
	int (*open)(struct gate *gate, struct error *error);
};

#endif
