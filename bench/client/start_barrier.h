/* SPDX-License-Identifier: MIT */
/*
 * A barrier between a trial's warm-up and its measurement, for trials on several hosts that
 * must begin together.
 */
#ifndef BENCH_CLIENT_START_BARRIER_H
#define BENCH_CLIENT_START_BARRIER_H

#include "core/base/error.h"

struct alarm;

struct start_barrier {
	/* Begins a case, whose trials follow. If the whole run ends, the alarms are raised. */
	void (*enter)(struct start_barrier *barrier, struct alarm *const *alarms, size_t count);
	void (*leave)(struct start_barrier *barrier);
	/* Waits until all hosts have arrived. */
	int (*pass)(struct start_barrier *barrier, struct error *error);
};

#endif
