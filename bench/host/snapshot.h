/* SPDX-License-Identifier: MIT */
/*
 * What one end notes beside the measurements: its circumstances when the run begins and
 * ends, and its device's counters from case to case.
 */
#ifndef BENCH_HOST_SNAPSHOT_H
#define BENCH_HOST_SNAPSHOT_H

#include "bench/host/counters.h"

struct witness {
	char device[64];
	unsigned int port;
	json_t *facts;
	json_t *before;           /* noise, when it began */
	struct counters counters; /* at the last note */
};

/* Gathers the facts of that device, or of the host alone, and takes the first note. */
int witness_open(struct witness *witness, const char *device, unsigned int port,
		 struct error *error);
void witness_close(struct witness *witness);

/* {name: difference} since the last note. */
int witness_note(struct witness *witness, json_t **moved, struct error *error);

#endif
