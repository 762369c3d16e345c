/* SPDX-License-Identifier: MIT */
/*
 * What a trial passes between its warm-up and what is measured, where it is to begin
 * together with trials elsewhere.
 */
#ifndef BENCH_GATE_H
#define BENCH_GATE_H

#include "core/error.h"

struct alarm;

struct gate {
	/* Waits for the others. Until it is closed whatever ends all of them raises the alarms. */
	int (*open)(struct gate *gate, struct alarm *const *alarms, size_t count,
		    struct error *error);
	void (*close)(struct gate *gate);
};

#endif
