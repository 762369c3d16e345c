/* SPDX-License-Identifier: MIT */
/*
 * Where the thread of a lane runs: on the processors near the device, on the one that was asked
 * for, or wherever it could before; on a half of them, or beside the other end's, where that is on
 * this machine and spins. Of several threads each has one processor: near the device before others,
 * a core before its second thread, the server's from the other end. It holds for the calling thread,
 * from open to close. And where its buffer lives, which the ground sees to: here it is only told
 * which node, and checked. root stands before what is read of /sys: "" but in tests.
 */
#ifndef BENCH_LANE_PLACEMENT_H
#define BENCH_LANE_PLACEMENT_H

#include "bench/cli/cpulist.h"
#include "bench/plan/parameters.h"
#include "core/rdma/endpoint.h"
#include "reports/result/result.h"

/* What one end of a case was asked for. */
struct placement_wish {
	const char *root;
	const char *whose; /* before the names of its options: "" or "server-" */
	int device_node;   /* NUMA node of its device; -1: none known */
	uint64_t pin;
	uint64_t numa;
	unsigned int threads; /* of the case at this end */
	unsigned int number;  /* of this one */
	bool is_server;
	bool is_shared;     /* both ends are on this machine, and this one spins */
	uint64_t other_pin; /* of the other end */
};

struct placement {
	struct cpulist before; /* where the thread might run, and is to run again */
	struct cpulist cpus;   /* where it may run now */
	bool is_moved;
	int node; /* of the buffer; -1: not known */
};

/* Where a thread that may run on allowed is to run. Names those where it is not there. */
int placement_choose(const struct placement_wish *wish, const struct cpulist *allowed,
		     struct cpulist *cpus, struct error *error);

/* Moves the thread there. After a failure it is where it was. */
int placement_open(struct placement *placement, const struct placement_wish *wish,
		   struct error *error);
void placement_close(struct placement *placement); /* a zeroed one is fine */

/* For the ground. A node that is not there is refused, with those that are. */
int placement_node(const struct placement_wish *wish, int *node, struct error *error);

/* Once the buffer is there. One that is not where it was to be is refused. */
int placement_check(struct placement *placement, const struct placement_wish *wish,
		    const struct memory *memory, struct error *error);

/* What two threads of an end have is told as one: the processors of both. */
void placement_join(struct placement *into, const struct placement *from);

/* For the result. */
struct result_place placement_tell(const struct placement *placement);

#endif
