/* SPDX-License-Identifier: MIT */
/*
 * Traffic and error counters of a port, as the kernel exports them: the standard ones, the
 * driver's for the port, and the driver's for the whole device. A reading is a snapshot that owns
 * its memory; a device without counters yields an empty one. root is a prefix of /sys, for tests;
 * normally "".
 */
#ifndef BENCH_HOST_COUNTERS_H
#define BENCH_HOST_COUNTERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"

#define COUNTER_NAME 80

/* The meaning of a change of a counter for a measurement. */
enum counter_kind {
	COUNTER_OTHER,
	COUNTER_LOSS,       /* something was retransmitted, or arrived out of order */
	COUNTER_NOT_READY,  /* a receiver had posted no receive */
	COUNTER_LINK,       /* the cable, or the port */
	COUNTER_CONGESTION, /* the network slowed the sender down */
};

struct counter {
	char name[COUNTER_NAME]; /* if a name occurs twice, the second includes its folder */
	uint64_t value;
};

struct counters {
	struct counter *rows;
	size_t count;
	uint64_t read_ns; /* CLOCK_MONOTONIC */
	unsigned int lifespan_ms;
};

/*
 * Reads the counters of a port. The kernel caches values for a while (the lifespan). With a
 * previous reading (NULL: none), waits until its lifespan is over, so that the values are new.
 */
int counters_open(struct counters *counters, const char *root, const char *device,
		  unsigned int port, const struct counters *previous, struct error *error);
void counters_close(struct counters *counters);

/*
 * Returns {name: difference} of counters that changed, and of all that are not COUNTER_OTHER.
 * Omits counters that went down, because they were reset. Returns NULL if out of memory.
 */
json_t *counters_moved(const struct counters *before, const struct counters *after);

enum counter_kind counters_kind(const char *name);

#endif
