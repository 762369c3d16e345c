/* SPDX-License-Identifier: MIT */
/*
 * How often what came to a device found no receive, as its ports count it from one instant to
 * another. They count all of the device's traffic, and some count the requester's side too.
 */
#ifndef BENCH_SERVER_RECEIVE_MISSES_H
#define BENCH_SERVER_RECEIVE_MISSES_H

#include "bench/host/counters.h"

struct receive_misses {
	struct counters *ports;
	unsigned int n_ports;
};

/* Ports from 1 on; root as of counters_open. Of what cannot be read nothing is counted. */
void receive_misses_open(struct receive_misses *missed, const char *root, const char *device,
			 unsigned int n_ports);

/* "send_rnr_err 17, rcvd_rnr_err 17", "never", or "the device does not count it". */
void receive_misses_tell(const struct receive_misses *missed, const char *root, const char *device,
			 char *text, size_t size);

void receive_misses_close(struct receive_misses *missed);

#endif
