/* SPDX-License-Identifier: MIT */
/*
 * Resolves an address to the device and a path. All peers are on this machine, so an address that
 * no process has is reported as not found once the caller's timeout expires.
 */
#include <arpa/inet.h>
#include <errno.h>

#include "core/soft/cm/cm.h"
#include "core/soft/cm/port.h"
#include "core/soft/export.h"
#include "core/soft/op/multicast.h"
#include "core/soft/peer/process.h"
#include "core/soft/port.h"

enum {
	RATE_100_GBPS = 16,
	PACKET_LIFE_TIME = 18,
	HOP_LIMIT = 64,
};

/*
 * Picks the first local address of the family, to reach another network namespace of this machine.
 */
static int any_source(const struct soft_cm_address *to, struct soft_cm_address *from)
{
	const union ibv_gid *gid;

	for (uint32_t i = 0; (gid = soft_port_gid(soft_process.arena.image, i)); i++) {
		if (soft_port_is_v4(gid) != (to->family == AF_INET))
			continue;
		*from = (struct soft_cm_address){.gid = *gid, .family = to->family};
		return 0;
	}
	return -ENETUNREACH;
}

/* Determines whether a peer has the address, and the source address to use. */
static int find_route(const struct soft_cm_address *to, struct soft_cm_address *from,
		      bool *is_known)
{
	struct soft_cm_address route;
	int result = soft_cm_address_source(to, &route);
	bool has_route = !result && soft_cm_address_is_own(&route);

	*is_known = soft_multicast_is_group(&to->gid) || soft_cm_address_index(to) >= 0 ||
		    soft_cm_port_is_known(to);
	if (from->family && !soft_cm_address_is_any(from))
		return 0;
	if (!has_route)
		result = *is_known ? any_source(to, &route) : result;
	if (result)
		return result;
	route.port = from->port;
	*from = route;
	return 0;
}

/* Connecting to the wildcard address means connecting to the local host. */
static void replace_any(struct soft_cm_address *to)
{
	if (!soft_cm_address_is_any(to))
		return;
	if (to->family == AF_INET)
		soft_port_map(&to->gid, "\x7f\0\0\x01");
	else
		to->gid = (union ibv_gid){.raw[15] = 1};
}

static int take_port(struct soft_cm_id *id)
{
	struct soft_cm_claim claim = {.address = id->from, .space = id->verbs.ps};
	int result = id->port ? 0 : soft_cm_port_take(&claim, &id->port);

	id->from.port = claim.address.port;
	return result;
}

static int resolve(struct soft_cm_id *id, const struct soft_cm_address *to, int timeout_ms)
{
	struct soft_cm_address from = id->from;
	bool is_known;
	int result = find_route(to, &from, &is_known);

	if (result)
		return result;
	id->from = from;
	id->to = *to;
	result = take_port(id);
	if (result)
		return result;
	pthread_mutex_lock(&soft_cm_mutex);
	if (is_known) {
		soft_cm_id_place(id);
		id->state = SOFT_CM_ADDRESS_KNOWN;
		soft_cm_raise(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	} else {
		id->state = SOFT_CM_RESOLVING;
		soft_cm_timer_set(id, timeout_ms > 0 ? (uint64_t)timeout_ms : 0);
	}
	pthread_mutex_unlock(&soft_cm_mutex);
	return 0;
}

SOFT_EXPORT int rdma_resolve_addr(struct rdma_cm_id *verbs, struct sockaddr *source,
				  struct sockaddr *destination, int timeout_ms)
{
	struct soft_cm_id *id = soft_cm_id_of(verbs);
	struct soft_cm_address to;
	int result;

	if (!destination || (id->state != SOFT_CM_IDLE && id->state != SOFT_CM_BOUND))
		return soft_cm_return(EINVAL);
	result = soft_cm_address_take(&to, destination);
	if (result)
		return soft_cm_return(result);
	if (source && id->state == SOFT_CM_IDLE && rdma_bind_addr(verbs, source))
		return -1;
	if (id->from.family && id->from.family != to.family)
		return soft_cm_return(EINVAL);
	replace_any(&to);
	result = resolve(id, &to, timeout_ms);
	if (result)
		return soft_cm_return(result);
	return soft_cm_complete(id);
}

static void fill_path(struct soft_cm_id *id)
{
	id->path = (struct ibv_sa_path_rec){
		.dgid = id->to.gid,
		.sgid = id->from.gid,
		.raw_traffic = 0,
		.hop_limit = HOP_LIMIT,
		.traffic_class = id->tos,
		.reversible = 1,
		.numb_path = 1,
		.pkey = htons(0xffff),
		.mtu_selector = 2, /* exactly */
		.mtu = SOFT_MTU,
		.rate_selector = 2,
		.rate = RATE_100_GBPS,
		.packet_life_time_selector = 2,
		.packet_life_time = PACKET_LIFE_TIME,
	};
	id->verbs.route.path_rec = &id->path;
	id->verbs.route.num_paths = 1;
}

SOFT_EXPORT int rdma_resolve_route(struct rdma_cm_id *verbs, int timeout_ms)
{
	struct soft_cm_id *id = soft_cm_id_of(verbs);

	if (id->state != SOFT_CM_ADDRESS_KNOWN)
		return soft_cm_return(EINVAL);
	pthread_mutex_lock(&soft_cm_mutex);
	fill_path(id);
	id->state = SOFT_CM_ROUTE_KNOWN;
	soft_cm_raise(id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	pthread_mutex_unlock(&soft_cm_mutex);
	return soft_cm_complete(id);
}
