/* SPDX-License-Identifier: MIT */
/*
 * The proof of a path: a few messages between two ports, by trials as a sweep has them,
 * over a control connection that is there already. First small ones, connected in both
 * ways, then such as take packets of the full MTU. What does not get through is an
 * outcome, not an error; what it means is for path_advice.h to tell.
 */
#ifndef BENCH_DOCTOR_PATH_PROBE_H
#define BENCH_DOCTOR_PATH_PROBE_H

#include "bench/control/control.h"
#include "reports/result/result.h"

/* In the order in which they are tried. */
enum path_probe_step {
	PATH_PAIRS,   /* small, the queue pairs connected by exchanged numbers */
	PATH_CM,      /* small, connected by rdma_cm: where the ports have addresses */
	PATH_SEVERAL, /* of a few packets, connected in the way that works */
	PATH_LARGE,   /* of many packets */
	PATH_STEPS,
};

enum path_probe_end {
	PATH_UNTRIED,
	PATH_PASSED,
	PATH_SILENT,     /* nothing has answered */
	PATH_UNRESOLVED, /* rdma_cm knows no way to the address */
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
	unsigned int mtu_tried;  /* the last one below the ports'; 0: there was no need */
	unsigned int mtu_passed; /* of those the first with which messages arrive; or 0 */
	char lost[256];          /* why the server is gone; empty: it is not */
};

/* The MTU of both ports together, in bytes. */
unsigned int path_probe_mtu(const struct path_probe *path);

/* near and far are set, and the rest is zero. Takes seconds where nothing arrives. */
void path_probe_run(struct path_probe *path, struct control *control);

#endif
