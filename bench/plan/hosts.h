/* SPDX-License-Identifier: MIT */
/*
 * Several hosts as a command line names them, HOST[:PORT] with a comma between any two,
 * and who of them talks to whom: of many to one the last is the one, of one to many the
 * first, one to one is the first to the second, the third to the fourth, and so on.
 */
#ifndef BENCH_PLAN_HOSTS_H
#define BENCH_PLAN_HOSTS_H

#include <stddef.h>

#include "bench/plan/pattern.h"

/* The TCP port of servers, where none is given. */
#define HOSTS_PORT 7471
#define HOSTS_MOST 64
#define HOSTS_NAME FLOWS_NAME

struct host {
	char label[HOSTS_NAME]; /* as it was named */
	char name[HOSTS_NAME];  /* that is dialled */
	uint16_t port;
};

struct hosts {
	size_t count;
	struct host host[HOSTS_MOST];
};

struct hosts_flow {
	size_t from; /* who drives */
	size_t to;
};

/* Whether it names several. */
bool hosts_are_several(const char *text);

/* port: of those that name none. */
int hosts_parse(struct hosts *hosts, const char *text, uint16_t port, struct error *error);

/* So many there are; 0: so many hosts do not make the pattern. flows has room for the most. */
#define HOSTS_FLOWS ((size_t)HOSTS_MOST * (HOSTS_MOST - 1))
size_t hosts_flows(enum pattern pattern, size_t n_hosts, struct hosts_flow *flows);

#endif
