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
		return "latency of writes polls memory, which SRD may fill in any order; use "
		       "--cq event";
	if (p->latencies || p->metric == METRIC_LOAD)
		return "--latencies and load need messages that complete in order, which those of "
		       "SRD do not";
	if (p->verify && !is_lat)
		return "--verify with bw needs messages that complete in order, which those of SRD "
		       "do not";
	if (p->cq_mod > 1 || p->post_list > 1)
		return "SRD has a completion for every message; use --cq-mod 1 and --post-list 1";
	if (p->use_srq || p->needs)
		return "SRD has neither shared receive queues nor --needs";
	return NULL;
}
