/* SPDX-License-Identifier: MIT */
/* The floors of a check: limits of good figures, as given by --floor. */
#ifndef BENCH_FLEET_FLOORS_H
#define BENCH_FLEET_FLOORS_H

#include <math.h>

#include "reports/fleet/fleet.h"

/* NAN: none. */
struct floors {
	double share;       /* of the line rate; INFINITY: the default */
	double bytes_per_s; /* instead of the share */
	double latency_ns;
};

#define FLOORS_DEFAULT                                                                           \
	{                                                                                        \
		.share = (double)INFINITY, .bytes_per_s = (double)NAN, .latency_ns = (double)NAN \
	}

/* Parses 90%line, 350Gb/s, 5us or off into struct floors: an option_parser. May be repeated. */
const char *floors_parse(const char *text, void *field);

/*
 * Returns the share of the line rate. The rate of a software device's port is no limit, so it has
 * no floor by default.
 */
double floors_share(const struct floors *floors, bool is_hardware);

/* Sets the floors of the fleet's cases. Call it when its rails are known. */
void floors_set(const struct floors *floors, struct fleet *fleet);

#endif
