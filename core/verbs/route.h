/* SPDX-License-Identifier: MIT */
/*
 * How a work request reaches its peer. A zeroed route is for a connected queue pair, whose requests
 * carry no address. The posting code of core/verbs/post.h applies the route of each request; the
 * creator of the address handle owns it. To add another kind, add a member to enum route_kind and a
 * case to the two functions here.
 */
#ifndef CORE_VERBS_ROUTE_H
#define CORE_VERBS_ROUTE_H

#include <infiniband/verbs.h>

#include "core/base/compiler.h"
#include "core/base/transport.h"
#include "core/verbs/dc.h"

struct route {
	enum route_kind kind;
	uint32_t qpn;
	struct ibv_ah *ah;
	uint32_t qkey; /* or the key of a target of DC */
	uint32_t srqn;
	void *initiator; /* DC only: from dc_extend */
};

/* Returns whether only ibv_wr_* can set the peer. */
static inline bool route_is_extended(const struct route *route)
{
	return route->kind == ROUTE_TARGET || route->kind == ROUTE_SRD;
}

/*
 * Set the peer of a work request: one that is being built by ibv_wr_*, and one for ibv_post_send.
 * Only sends have a route by address. ibv_post_send has no route to a target of DC,
 * and none for reads and writes of SRD.
 */
static ALWAYS_INLINE void route_set(const struct route *route, struct ibv_qp_ex *qpx)
{
	if (likely(route->kind == ROUTE_CONNECTED))
		return;
	if (route->kind == ROUTE_SRQ)
		ibv_wr_set_xrc_srqn(qpx, route->srqn);
	else if (route->kind == ROUTE_TARGET)
		dc_set_target(route);
	else
		ibv_wr_set_ud_addr(qpx, route->ah, route->qpn, route->qkey);
}

static ALWAYS_INLINE void route_set_send(const struct route *route, struct ibv_send_wr *wr)
{
	if (likely(route->kind == ROUTE_CONNECTED))
		return;
	if (route->kind == ROUTE_SRQ) {
		wr->qp_type.xrc.remote_srqn = route->srqn;
		return;
	}
	wr->wr.ud.ah = route->ah;
	wr->wr.ud.remote_qpn = route->qpn;
	wr->wr.ud.remote_qkey = route->qkey;
}

#endif
