/* SPDX-License-Identifier: MIT */
/*
 * Merges the results of a pattern's flows, which run between several hosts, into one case: counts
 * and costs are added, and so are the rates, each over its flow's own time.
 */
#ifndef BENCH_CLIENT_MULTI_HOST_MERGE_H
#define BENCH_CLIENT_MULTI_HOST_MERGE_H

#include "bench/control/control.h"
#include "bench/plan/hosts.h"
#include "reports/result/result.h"

/* A flow: the server on one host drives the server on another. */
struct multi_host_flow {
	const struct host *from;
	const struct host *to;
	struct control control; /* to the host that drives */
	bool is_open;
	struct result result; /* of one case, as reported by the driving host */
};

/* Merges flows that all completed with the same number of trials. spread_ns: of their starts. */
int multi_host_merge_case(struct result_case *found, const struct multi_host_flow *flows,
			  size_t count, uint64_t spread_ns, struct error *error);

/* Adds a flow's hosts and warnings to the result. The first flow's hosts become its two ends. */
int multi_host_merge_ends(struct result *result, const struct multi_host_flow *flow,
			  struct error *error);

#endif
