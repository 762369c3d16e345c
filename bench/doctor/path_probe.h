/* SPDX-License-Identifier: MIT */
/*
 * Tests a path with a few messages between two ports, using trials over an existing control
 * connection: first small messages, connected by --connect qp and by rdma_cm, then messages that
 * need packets of the full MTU. Lost messages are an outcome, not an error; path_advice.h
 * interprets them.
 */
#ifndef BENCH_DOCTOR_PATH_PROBE_H
#define BENCH_DOCTOR_PATH_PROBE_H

#include "bench/control/control.h"
#include "reports/result/result.h"

/* In the order of the test. */
enum path_probe_step {
	PATH_PAIRS,   /* small messages, with --connect qp */
	PATH_CM,      /* small messages, with rdma_cm; only if the ports have addresses */
	PATH_SEVERAL, /* messages of a few packets, connected in the way that works */
	PATH_LARGE,   /* messages of many packets */
	PATH_STEPS,
};

enum path_probe_end {
	PATH_UNTRIED,
	PATH_PASSED,
	PATH_SILENT,     /* no reply */
	PATH_UNRESOLVED, /* rdma_cm found no route to the address */
	PATH_FAILED,     /* for another reason */
};

struct path_probe_outcome {
	enum path_probe_end end;
	uint64_t size; /* of each message */
	char reason[256];
};

struct path_probe {
	struct result_end near;
	struct result_end far;
	struct path_probe_outcome steps[PATH_STEPS];
	unsigned int mtu_tried;  /* smallest MTU tried below that of the ports; 0: none */
	unsigned int mtu_passed; /* the first of those with which messages arrive; 0: none */
	char lost[256];          /* why the connection to the server was lost; empty: it was not */
};

/* Returns the smaller MTU of the two ports, in bytes. */
unsigned int path_probe_mtu(const struct path_probe *path);

/* Runs the test. near and far must be set and the rest zero. Takes seconds if nothing arrives. */
void path_probe_run(struct path_probe *path, struct control *control);

#endif
