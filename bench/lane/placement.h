/* SPDX-License-Identifier: MIT */
/*
 * CPU and NUMA placement of a lane's thread and buffer.
 *
 * By default the thread runs on the CPUs near the device; if both sides are on this machine and
 * spin, each gets half of them, or the CPUs that the peer is not pinned to. Of several threads,
 * each gets one CPU: near the device first, whole cores before hyperthreads, the server from the
 * opposite end of the list. Placement holds for the calling thread from open to close. The
 * endpoint allocates the buffer; this module only chooses the node and checks the outcome. root is
 * a prefix for paths below /sys, "" except in tests.
 */
#ifndef BENCH_LANE_PLACEMENT_H
#define BENCH_LANE_PLACEMENT_H

#include "bench/cli/cpulist.h"
#include "bench/plan/parameters.h"
#include "core/rdma/endpoint.h"
#include "reports/result/result.h"

/* The request for one side of a case. */
struct placement_wish {
	const char *root;
	const char *prefix; /* of the option names: "" or "server-" */
	int device_node;    /* NUMA node of the device; -1: unknown */
	uint64_t pin;
	uint64_t numa;
	unsigned int threads; /* the side's threads */
	unsigned int number;  /* this thread's number */
	bool is_server;
	bool is_shared;     /* both sides are on this machine, and this one spins */
	uint64_t other_pin; /* the peer's pin */
};

struct placement {
	struct cpulist before; /* the thread's affinity before, to be restored */
	struct cpulist cpus;   /* its affinity now */
	bool is_moved;
	int node; /* node of the buffer; -1: unknown */
};

/*
 * Chooses among the allowed CPUs. If the requested CPU is not allowed, the error lists the allowed
 * ones.
 */
int placement_choose(const struct placement_wish *wish, const struct cpulist *allowed,
		     struct cpulist *cpus, struct error *error);

/* Moves the calling thread. On failure its affinity is unchanged. */
int placement_open(struct placement *placement, const struct placement_wish *wish,
		   struct error *error);
void placement_close(struct placement *placement); /* accepts a zeroed placement */

/*
 * Returns the node for the buffer in *node. Fails if the node does not exist; the error lists the
 * existing ones.
 */
int placement_node(const struct placement_wish *wish, int *node, struct error *error);

/* Call once the buffer exists. Fails if the buffer is not on the requested node. */
int placement_check(struct placement *placement, const struct placement_wish *wish,
		    const struct memory *memory, struct error *error);

/* Merges the placements of two threads of a side, for the report. */
void placement_join(struct placement *into, const struct placement *from);

/* Returns the placement for the result. */
struct result_place placement_result(const struct placement *placement);

#endif
