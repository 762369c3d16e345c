/* SPDX-License-Identifier: MIT */
#include "bench/plan/order.h"

#include <stddef.h>

#include "core/base/transport.h"

const char *order_refuse(const struct operation *op, const struct parameters *p)
{
	bool is_lat = p->metric == METRIC_LAT;

	if (parameters_has(p, TRANSPORT_ORDERED))
		return NULL;
	/* The last byte may be written before the others. */
	if (op->polls_memory && is_lat && operation_kind(op, p) == RESULT_HALF)
		return "write latency polls the last byte, and SRD may write data in any order; "
		       "use --cq event";
	if (p->latencies || p->metric == METRIC_LOAD)
		return "--latencies and --metric load need completions in order, which SRD does not "
		       "guarantee; use another transport";
	if (p->verify && !is_lat)
		return "--verify with --metric bw needs completions in order, which SRD does not "
		       "guarantee; use another transport";
	if (p->cq_mod > 1 || p->post_list > 1)
		return "SRD has a completion for every message; use --cq-mod 1 and --post-list 1";
	if (p->use_srq || p->needs)
		return "SRD does not support --use-srq or --needs; omit them";
	return NULL;
}
