/* SPDX-License-Identifier: MIT */
/*
 * A port's counters of traffic and of errors, as the kernel shows them: the standard
 * ones, the driver's for the port, and the driver's for the whole device. A reading is a
 * snapshot that owns its memory; a device that counts nothing gives an empty one. Root
 * is "" for this machine, else a folder with made-up files.
 */
#ifndef BENCH_HOST_COUNTERS_H
#define BENCH_HOST_COUNTERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"

#define COUNTER_NAME 80

/* What it means for a measurement that a counter moves. */
enum counter_kind {
	COUNTER_OTHER,
	COUNTER_LOSS,       /* something was sent again, or arrived out of order */
	COUNTER_NOT_READY,  /* a receiver had posted no receive */
	COUNTER_LINK,       /* the cable, or the port */
	COUNTER_CONGESTION, /* the network slowed the sender down */
};

struct counter {
	char name[COUNTER_NAME]; /* of two alike the second has its folder in front */
	uint64_t value;
};

struct counters {
	struct counter *rows;
	size_t count;
	uint64_t read_ns; /* CLOCK_MONOTONIC */
	unsigned int lifespan_ms;
};

/*
 * The kernel answers from what it has read for a while. With a previous reading (NULL:
 * none) this one waits until that while is over, and not at all if it is.
 */
int counters_open(struct counters *counters, const char *root, const char *device,
		  unsigned int port, const struct counters *previous, struct error *error);
void counters_close(struct counters *counters);

/*
 * {name: difference} of those that moved, and of all that are not COUNTER_OTHER. One
 * that went back was reset meanwhile, and is left out. NULL without memory.
 */
json_t *counters_moved(const struct counters *before, const struct counters *after);

enum counter_kind counters_kind(const char *name);

#endif
