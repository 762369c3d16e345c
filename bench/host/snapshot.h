/* SPDX-License-Identifier: MIT */
/*
 * Records the circumstances of one end: facts and noise at the start, and the device's counters
 * from case to case.
 */
#ifndef BENCH_HOST_SNAPSHOT_H
#define BENCH_HOST_SNAPSHOT_H

#include "bench/host/counters.h"

struct snapshot {
	char device[64];
	unsigned int port;
	json_t *facts;
	json_t *before;           /* noise at the start */
	struct counters counters; /* at the last note */
};

/* Gathers the facts of a device, or of the host alone if it is "", and reads the counters. */
int snapshot_open(struct snapshot *snapshot, const char *device, unsigned int port,
		  struct error *error);
void snapshot_close(struct snapshot *snapshot);

/* Sets *moved to {name: difference} since the last call. The caller owns it. */
int snapshot_note(struct snapshot *snapshot, json_t **moved, struct error *error);

#endif
