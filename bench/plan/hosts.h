/* SPDX-License-Identifier: MIT */
/*
 * Lists of hosts, written HOST[:PORT],HOST[:PORT],..., and who talks to whom. In many-to-one the
 * last host is the one; in one-to-many the first. One-to-one pairs the first host with the second,
 * the third with the fourth, and so on.
 */
#ifndef BENCH_PLAN_HOSTS_H
#define BENCH_PLAN_HOSTS_H

#include <stddef.h>

#include "bench/plan/pattern.h"

/* The server's default TCP port. */
#define HOSTS_PORT 7471
#define HOSTS_MOST 64
#define HOSTS_NAME FLOWS_NAME

struct host {
	char label[HOSTS_NAME]; /* as the user wrote it */
	char name[HOSTS_NAME];  /* to resolve */
	uint16_t port;
};

struct hosts {
	size_t count;
	struct host host[HOSTS_MOST];
};

struct hosts_flow {
	size_t from; /* the client */
	size_t to;
};

/* Returns whether the text names several hosts. */
bool hosts_are_several(const char *text);

/* Parses a list of hosts. port is the default for hosts without one. */
int hosts_parse(struct hosts *hosts, const char *text, uint16_t port, struct error *error);

/*
 * Returns the number of flows, or 0 if the pattern is impossible with that many hosts. flows must
 * have room for HOSTS_FLOWS entries.
 */
#define HOSTS_FLOWS ((size_t)HOSTS_MOST * (HOSTS_MOST - 1))
size_t hosts_flows(enum pattern pattern, size_t n_hosts, struct hosts_flow *flows);

#endif
