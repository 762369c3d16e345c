/* SPDX-License-Identifier: MIT */
/*
 * What the hosts of a pattern have seen becomes one case: counts, costs and rates are
 * sums, each flow's rate over its own time.
 */
#ifndef BENCH_CLIENT_MULTI_HOST_MERGE_H
#define BENCH_CLIENT_MULTI_HOST_MERGE_H

#include "bench/control/control.h"
#include "bench/plan/hosts.h"
#include "reports/result/result.h"

/* One host's server drives another's. */
struct multi_host_flow {
	const struct host *from;
	const struct host *to;
	struct control control; /* to the one that drives */
	bool is_open;
	struct result result; /* of one case, as it has told */
};

/* All of them were well, and have as many trials. spread_ns: between their begins. */
int multi_host_merge_case(struct result_case *found, const struct multi_host_flow *flows,
			  size_t count, uint64_t spread_ns, struct error *error);

/* The hosts of a flow, their warnings, and the first one's as the two ends of the result. */
int multi_host_merge_ends(struct result *result, const struct multi_host_flow *flow,
			  struct error *error);

#endif
