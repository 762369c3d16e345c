/* SPDX-License-Identifier: MIT */
/*
 * What one end notes beside the measurements: its circumstances when the run begins and
 * ends, and its device's counters from case to case.
 */
#ifndef BENCH_HOST_SNAPSHOT_H
#define BENCH_HOST_SNAPSHOT_H

#include "bench/host/counters.h"

struct snapshot {
	char device[64];
	unsigned int port;
	json_t *facts;
	json_t *before;           /* noise, when it began */
	struct counters counters; /* at the last note */
};

/* Gathers the facts of that device, or of the host alone, and takes the first note. */
int snapshot_open(struct snapshot *snapshot, const char *device, unsigned int port,
		  struct error *error);
void snapshot_close(struct snapshot *snapshot);

/* {name: difference} since the last note. */
int snapshot_note(struct snapshot *snapshot, json_t **moved, struct error *error);

#endif
