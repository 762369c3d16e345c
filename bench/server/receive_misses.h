/* SPDX-License-Identifier: MIT */
/*
 * Counts how often a message arrived at a device and found no receive, by its port counters. These
 * cover all of the device's traffic; some also count the requester's side.
 */
#ifndef BENCH_SERVER_RECEIVE_MISSES_H
#define BENCH_SERVER_RECEIVE_MISSES_H

#include "bench/host/counters.h"

struct receive_misses {
	struct counters *ports;
	unsigned int n_ports;
};

/* Reads the counters of ports 1 to n_ports. root: see counters_open. Skips unreadable counters. */
void receive_misses_open(struct receive_misses *missed, const char *root, const char *device,
			 unsigned int n_ports);

/* Prints "send_rnr_err 17, rcvd_rnr_err 17", "never", or "the device does not count it". */
void receive_misses_tell(const struct receive_misses *missed, const char *root, const char *device,
			 char *text, size_t size);

void receive_misses_close(struct receive_misses *missed);

#endif
