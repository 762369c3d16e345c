/* SPDX-License-Identifier: MIT */
/* Where one thread of the server has its part in a trial, opposite one of the client's. */
#ifndef BENCH_STATION_H
#define BENCH_STATION_H

#include "bench/lane.h"
#include "bench/protocol.h"
#include "reports/windows.h"

struct station {
	struct lane lane;
	struct windows *windows; /* of its own direction, where it has one, */
	uint64_t driven_ns;      /* and for how long it was driven; 0: it was not */
	struct protocol_done done;
};

/* Whether it throws messages back, rather than only receives them or sleeps. */
bool station_answers(const struct protocol_case *wanted);

/* Has its part until the client speaks; done is what came of it. */
int station_respond(struct station *station, const struct protocol_case *wanted,
		    struct error *error);

/*
 * How many it drove while the client measured, as long ago as the word of it says. Below
 * 0: it drove none.
 */
double station_driven(const struct station *station, const struct protocol_stop *stop);

#endif
