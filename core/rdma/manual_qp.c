/* SPDX-License-Identifier: MIT */
#include "core/rdma/manual_qp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "core/rdma/context.h"
#include "core/rdma/guard.h"
#include "core/rdma/multicast.h"
#include "core/rdma/settings.h"
#include "core/verbs/dc.h"
#include "core/verbs/device.h"
#include "core/verbs/verbs.h"

#define DEFAULT_PORT 1
#define DEFAULT_HOPS 64

#define BITS_24 0xffffffU
/* Lower numbers are management queue pairs, except on EFA. */
#define FIRST_QPN 2
/* LIDs from here on are multicast. */
#define MULTICAST_LID 0xc000
/* Q_Keys with this bit are reserved for privileged users. */
#define CONTROLLED_QKEY 0x80000000U

static bool is_ethernet(const struct rdma_state *state)
{
	return state->port.link_layer == IBV_LINK_LAYER_ETHERNET;
}

bool manual_qp_has_lids(const struct ibv_port_attr *port)
{
	return port->link_layer == IBV_LINK_LAYER_INFINIBAND;
}

/* Returns whether packets carry a GID: always without LIDs, otherwise if one was requested. */
static bool has_gid(const struct rdma_state *state)
{
	return state->path.settings.gid_index >= 0;
}

static struct in6_addr gid_address(const uint8_t gid[static 16])
{
	struct in6_addr address;

	memcpy(&address, gid, sizeof(address));
	return address;
}

/* Returns whether a RoCE GID is that address; IPv4 is mapped to IPv6. */
static bool is_gid_of(const struct ibv_gid_entry *entry, const struct sockaddr_storage *address)
{
	const struct in6_addr gid = gid_address(entry->gid.raw);
	struct sockaddr_in in;
	struct sockaddr_in6 in6;

	switch (address->ss_family) {
	case AF_INET:
		memcpy(&in, address, sizeof(in));
		return IN6_IS_ADDR_V4MAPPED(&gid) &&
		       !memcmp(&gid.s6_addr[12], &in.sin_addr, sizeof(in.sin_addr));
	case AF_INET6:
		memcpy(&in6, address, sizeof(in6));
		/*
		 * A link-local address may also exist on other interfaces, such as a NIC's VLANs.
		 */
		return IN6_ARE_ADDR_EQUAL(&gid, &in6.sin6_addr) &&
		       (!in6.sin6_scope_id || in6.sin6_scope_id == entry->ndev_ifindex);
	default:
		return false;
	}
}

unsigned int manual_qp_rank_gid(const struct ibv_gid_entry *entry,
				const struct sockaddr_storage *address)
{
	const struct in6_addr gid = gid_address(entry->gid.raw);
	unsigned int rank = entry->gid_type == IBV_GID_TYPE_ROCE_V2 ? 8 : 0;

	if (IN6_IS_ADDR_UNSPECIFIED(&gid))
		return 0;
	if (address && is_gid_of(entry, address))
		rank += 4;
	if (IN6_IS_ADDR_V4MAPPED(&gid))
		return rank + 3;
	return IN6_IS_ADDR_LINKLOCAL(&gid) ? rank + 1 : rank + 2;
}

static const struct ibv_gid_entry *find_gid(const struct rdma_state *state,
					    const struct ibv_gid_entry *gids, size_t count)
{
	const struct sockaddr_storage *address = &state->path.settings.address;
	int wanted = state->path.settings.gid_index;
	const struct ibv_gid_entry *found = NULL;
	unsigned int best = 0;

	for (size_t i = 0; i < count; i++) {
		unsigned int rank = manual_qp_rank_gid(&gids[i], address);

		if (gids[i].port_num != state->port_num || !rank)
			continue;
		if (wanted >= 0 ? gids[i].gid_index == (uint32_t)wanted : rank > best) {
			found = &gids[i];
			best = rank;
		}
	}
	return found;
}

static int choose_gid(struct rdma_state *state, struct error *error)
{
	struct manual_qp_settings *settings = &state->path.settings;
	const struct ibv_gid_entry *found;
	struct ibv_gid_entry *gids = NULL;
	size_t count;
	int code;

	if (settings->gid_index == MANUAL_QP_GID_BEST && manual_qp_has_lids(&state->port)) {
		if (settings->traffic_class || settings->flow_label || settings->hop_limit)
			return error_set(error, -EINVAL,
					 "InfiniBand packets carry a traffic class, flow label or "
					 "hop limit only with a GID; choose one with -x");
		return 0;
	}
	code = device_gids(state->endpoint->verbs, state->device.phys_port_cnt, &gids, &count,
			   error);
	if (!code) {
		found = find_gid(state, gids, count);
		if (found) {
			settings->gid_index = (int)found->gid_index;
			memcpy(state->path.own.gid, found->gid.raw, sizeof(found->gid.raw));
		} else if (settings->gid_index >= 0) {
			code = error_set(error, -EINVAL, "port %u has no GID with index %d",
					 state->port_num, settings->gid_index);
		} else {
			code = error_set(error, -EADDRNOTAVAIL,
					 "port %u has no GID: is its interface up?",
					 state->port_num);
		}
	}
	free(gids);
	return code;
}

static int check_port(struct rdma_context *ctx, struct endpoint *endpoint, struct error *error)
{
	struct manual_qp_settings *settings = &ctx->state->path.settings;
	const char *device = ibv_get_device_name(endpoint->verbs->device);
	int code;

	if (endpoint->verbs->device->transport_type == IBV_TRANSPORT_IWARP)
		return error_set(error, -EOPNOTSUPP,
				 "device %s is iWARP, which connects only through rdma_cm", device);
	if (settings->port > endpoint->device.phys_port_cnt)
		return error_set(error, -EINVAL, "device %s has no port %u", device,
				 settings->port);
	code = context_check(ctx, endpoint->verbs, settings->port, error);
	if (code)
		return code;
	if (ctx->state->port.state != IBV_PORT_ACTIVE)
		return error_set(error, -ENETDOWN, "port %u of device %s is %s", settings->port,
				 device, device_state_name(ctx->state->port.state));
	return 0;
}

static unsigned int access_flags(const struct rdma_state *state)
{
	unsigned int flags = 0;

	if (transport_has(state->transport, TRANSPORT_WRITES))
		flags |= IBV_ACCESS_REMOTE_WRITE;
	if (transport_has(state->transport, TRANSPORT_READS))
		flags |= IBV_ACCESS_REMOTE_READ;
	if (transport_has(state->transport, TRANSPORT_ATOMICS) &&
	    limits_has_atomics(&state->device))
		flags |= IBV_ACCESS_REMOTE_ATOMIC;
	return flags;
}

static struct ibv_ah_attr address_vector(const struct rdma_state *state)
{
	const struct manual_qp_settings *settings = &state->path.settings;
	struct ibv_ah_attr attr = {
		.dlid = (uint16_t)(state->path.other.lid + settings->path_bits),
		.sl = settings->sl,
		.src_path_bits = settings->path_bits,
		.port_num = state->port_num,
		.is_global = has_gid(state),
	};

	if (!attr.is_global)
		return attr;
	attr.grh = (struct ibv_global_route){
		.sgid_index = (uint8_t)settings->gid_index,
		.hop_limit = settings->hop_limit ? settings->hop_limit : DEFAULT_HOPS,
		.traffic_class = settings->traffic_class,
		.flow_label = settings->flow_label,
	};
	memcpy(attr.grh.dgid.raw, state->path.other.gid, sizeof(attr.grh.dgid.raw));
	return attr;
}

static bool is_dc(const struct rdma_state *state)
{
	return transports[state->transport].route == ROUTE_TARGET;
}

/* Changes the initiator of DC, which other contexts may have changed already. */
static int modify_initiator(const struct rdma_context *ctx, struct ibv_qp_attr *attr, int mask)
{
	const int others = IBV_QP_ACCESS_FLAGS | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;

	if (ctx->qp->state >= attr->qp_state)
		return 0;
	return verbs_result(ibv_modify_qp(ctx->qp, attr, mask & ~others));
}

/* Changes both queue pairs of XRC alike, and the only one otherwise. */
static int modify(const struct rdma_context *ctx, struct ibv_qp_attr *attr, int mask)
{
	int code;

	if (is_dc(ctx->state))
		return modify_initiator(ctx, attr, mask);
	code = verbs_result(ibv_modify_qp(ctx->qp, attr, mask));
	if (code || !ctx->state->target)
		return code;
	/* The target is connected to the peer's sending queue pair, and vice versa. */
	attr->dest_qp_num = ctx->state->path.other.qpn;
	return verbs_result(ibv_modify_qp(ctx->state->target, attr, mask));
}

static int ready_to_init(struct rdma_context *ctx, struct error *error)
{
	const struct rdma_state *state = ctx->state;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = state->port_num,
		.pkey_index = state->path.settings.pkey_index,
		.qkey = state->path.own.qkey,
		.qp_access_flags = access_flags(state),
	};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	int code;

	mask |= transport_has(state->transport, TRANSPORT_CONNECTED) ? IBV_QP_ACCESS_FLAGS
								     : IBV_QP_QKEY;
	code = modify(ctx, &attr, mask);
	if (!code && is_dc(state))
		code = verbs_result(ibv_modify_qp(state->target, &attr, mask));
	return code ? error_set_errno(error, code, "cannot set up the queue pair") : 0;
}

/* A target of DC receives from anybody who has its key, so it is complete before there is a peer. */
static int open_dc_target(const struct rdma_context *ctx, struct error *error)
{
	const struct rdma_state *state = ctx->state;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = state->path.own.mtu,
		.ah_attr = address_vector(state),
	};
	int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_MIN_RNR_TIMER;
	int code;

	attr.min_rnr_timer = settings_rnr_timer(&ctx->settings);
	code = verbs_result(ibv_modify_qp(state->target, &attr, mask));
	return code ? error_set_errno(error, code, "cannot set up a target of DC") : 0;
}

/* Returns random numbers, so that late packets of earlier connections are not accepted. */
static uint32_t random_bits(void)
{
	uint32_t bits = 0;

	if (getrandom(&bits, sizeof(bits), GRND_NONBLOCK) != sizeof(bits))
		bits = (uint32_t)clock_now_ns();
	return bits;
}

static int build(struct rdma_context *ctx, struct error *error)
{
	struct rdma_state *state = ctx->state;
	struct manual_qp_address *own = &state->path.own;
	int code = check_port(ctx, state->endpoint, error);

	if (!code)
		code = choose_gid(state, error);
	own->qkey = state->path.settings.group ? state->path.settings.group->qkey
					       : random_bits() & ~CONTROLLED_QKEY;
	if (!code)
		code = context_open_qp(ctx, error);
	if (code)
		return code;
	own->lid = state->port.lid;
	own->qpn = ctx->qp->qp_num;
	own->psn = random_bits() & BITS_24;
	own->mtu = state->path.settings.mtu ? state->path.settings.mtu : state->port.active_mtu;
	own->reads = settings_reads(&ctx->settings, &ctx->state->device);
	own->address = (uintptr_t)ctx->buffer;
	own->size = ctx->buffer_size;
	own->rkey = ctx->mr->rkey;
	if (state->endpoint->xrcd)
		code = verbs_result(ibv_get_srq_num(state->endpoint->srq, &own->srqn));
	if (code)
		return error_set_errno(error, code,
				       "cannot get the number of the shared receive queue");
	code = ready_to_init(ctx, error);
	if (!code && is_dc(state))
		code = open_dc_target(ctx, error);
	/* A target of DC has no number before. */
	if (!code && state->target)
		own->target = state->queue.receiver = state->target->qp_num;
	return code;
}

int manual_qp_open(struct rdma_context *ctx, struct endpoint *endpoint,
		   const struct manual_qp_settings *settings, struct error *error)
{
	struct context_path *path;
	int code = context_use(ctx, endpoint, error);

	if (code)
		return code;
	context_set_region(ctx, settings->region);
	path = &ctx->state->path;
	path->is_open = true;
	path->settings = *settings;
	path->settings.port = settings->port ? settings->port : DEFAULT_PORT;
	ctx->state->transport = settings->transport;
	code = context_begin(ctx, error);
	if (!code)
		code = build(ctx, error);
	if (code)
		context_release(ctx);
	return code;
}

void manual_qp_local(const struct rdma_context *ctx, struct manual_qp_address *address)
{
	*address = ctx->state->path.own;
}

static int invalid(struct error *error, const char *what, uint32_t value)
{
	return error_set(error, -EPROTO, "the peer sent an invalid %s: %#x", what, value);
}

static int check_gid(const struct rdma_state *state, const struct manual_qp_address *remote,
		     struct error *error)
{
	const struct in6_addr own = gid_address(state->path.own.gid);
	const struct in6_addr other = gid_address(remote->gid);
	bool is_v4 = IN6_IS_ADDR_V4MAPPED(&other);

	if (IN6_IS_ADDR_UNSPECIFIED(&other))
		return error_set(error, -EPROTO, "the peer sent no GID");
	if (IN6_IS_ADDR_MULTICAST(&other))
		return error_set(error, -EPROTO, "the peer's GID is a multicast address");
	if (is_ethernet(state) && is_v4 != IN6_IS_ADDR_V4MAPPED(&own))
		return error_set(
			error, -EPROTO,
			"the peer's GID is %s, the local one is %s; choose another GID index",
			is_v4 ? "IPv4" : "IPv6", is_v4 ? "IPv6" : "IPv4");
	return 0;
}

/* Checks an address received from the peer, which is untrusted. */
static int manual_qp_check(const struct rdma_context *ctx, const struct manual_qp_address *remote,
			   struct error *error)
{
	const struct rdma_state *state = ctx->state;
	uint32_t first = transports[state->transport].route == ROUTE_SRD ? 0 : FIRST_QPN;

	if (remote->qpn < first || remote->qpn > BITS_24)
		return invalid(error, "queue pair number", remote->qpn);
	if (state->target && (remote->target < FIRST_QPN || remote->target > BITS_24))
		return invalid(error, "target queue pair number", remote->target);
	if (state->target && remote->srqn > BITS_24)
		return invalid(error, "shared receive queue number", remote->srqn);
	if (remote->psn > BITS_24)
		return invalid(error, "packet sequence number", remote->psn);
	if (!limits_mtu_bytes(remote->mtu))
		return invalid(error, "MTU", remote->mtu);
	if (!transport_has(state->transport, TRANSPORT_CONNECTED) && remote->qkey & CONTROLLED_QKEY)
		return invalid(error, "Q_Key", remote->qkey);
	if (manual_qp_has_lids(&state->port) && (!remote->lid || remote->lid >= MULTICAST_LID))
		return invalid(error, "LID", remote->lid);
	if (remote->address + remote->size < remote->address)
		return error_set(error, -EPROTO, "the peer's buffer wraps around");
	if (transport_has(state->transport, TRANSPORT_DATAGRAM) &&
	    ctx->settings.max_message > limits_mtu_bytes(remote->mtu))
		return error_set(error, -EMSGSIZE,
				 "message size %" PRIu64 " exceeds the peer's MTU %u",
				 ctx->settings.max_message, limits_mtu_bytes(remote->mtu));
	return has_gid(state) ? check_gid(state, remote, error) : 0;
}

static int ready_to_receive(struct rdma_context *ctx, struct error *error)
{
	const struct rdma_state *state = ctx->state;
	const struct context_path *path = &state->path;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = path->other.mtu < path->own.mtu ? path->other.mtu : path->own.mtu,
		.dest_qp_num = ctx->state->target ? path->other.target : path->other.qpn,
		.rq_psn = path->other.psn,
		.max_dest_rd_atomic = path->own.reads,
		.min_rnr_timer = settings_rnr_timer(&ctx->settings),
		.ah_attr = address_vector(state),
	};
	int mask = IBV_QP_STATE;
	int code;

	if (transport_has(state->transport, TRANSPORT_CONNECTED))
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (transport_is_acknowledged(state->transport))
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	code = modify(ctx, &attr, mask);
	return code ? error_set_errno(error, code, "cannot reach the peer") : 0;
}

static int ready_to_send(struct rdma_context *ctx, struct error *error)
{
	const struct context_path *path = &ctx->state->path;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = path->own.psn,
		.timeout = settings_ack_timeout(&ctx->settings),
		.retry_cnt = settings_retry_count(&ctx->settings),
		.rnr_retry = settings_rnr_retry(&ctx->settings),
		.max_rd_atomic =
			path->other.reads < path->own.reads ? path->other.reads : path->own.reads,
	};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
	int code;

	if (transport_is_acknowledged(ctx->state->transport))
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	code = modify(ctx, &attr, mask);
	return code ? error_set_errno(error, code, "cannot connect the queue pair") : 0;
}

/* Returns the address vector of the group, with the path that the settings ask for. */
static struct ibv_ah_attr group_vector(const struct rdma_state *state)
{
	const struct manual_qp_settings *settings = &state->path.settings;
	struct ibv_ah_attr attr = settings->group->address;

	attr.port_num = state->port_num;
	attr.sl = settings->sl ? settings->sl : attr.sl;
	if (settings->hop_limit)
		attr.grh.hop_limit = settings->hop_limit;
	if (settings->traffic_class)
		attr.grh.traffic_class = settings->traffic_class;
	if (settings->flow_label)
		attr.grh.flow_label = settings->flow_label;
	return attr;
}

static int attach(struct rdma_context *ctx, struct error *error)
{
	struct context_path *path = &ctx->state->path;
	const struct ibv_ah_attr *attr;
	int code;

	if (!path->settings.is_member)
		return 0;
	attr = &path->settings.group->address;
	code = verbs_result(ibv_attach_mcast(ctx->qp, &attr->grh.dgid, attr->dlid));
	if (code)
		return error_set_errno(error, code, "cannot attach a queue pair to the group");
	path->is_attached = true;
	return 0;
}

void manual_qp_detach(const struct rdma_context *ctx)
{
	struct context_path *path = &ctx->state->path;
	const struct ibv_ah_attr *attr;

	if (!path->is_attached)
		return;
	attr = &path->settings.group->address;
	ibv_detach_mcast(ctx->qp, &attr->grh.dgid, attr->dlid);
	path->is_attached = false;
}

static int make_route(struct rdma_context *ctx, struct error *error)
{
	struct context_path *path = &ctx->state->path;
	bool is_to_group = path->settings.group && !path->settings.is_member;
	struct ibv_ah_attr attr =
		is_to_group ? group_vector(ctx->state) : address_vector(ctx->state);

	path->route.kind = transports[ctx->state->transport].route;
	path->route.srqn = path->other.srqn;
	if (path->route.kind == ROUTE_CONNECTED || path->route.kind == ROUTE_SRQ)
		return 0;
	if (is_to_group)
		path->route.qpn = MULTICAST_QPN;
	else
		path->route.qpn = is_dc(ctx->state) ? path->other.target : path->other.qpn;
	path->route.qkey = path->other.qkey;
	path->route.ah = ibv_create_ah(ctx->pd, &attr);
	if (!path->route.ah)
		return error_set_errno(error, verbs_null(), "cannot reach the peer");
	if (is_dc(ctx->state))
		path->route.initiator = dc_extend(ctx->state->queue.qpx);
	return 0;
}

int manual_qp_connect(struct rdma_context *ctx, const struct manual_qp_address *remote,
		      struct error *error)
{
	int code;

	if (!ctx->state || !ctx->state->path.is_open || ctx->state->connected)
		return error_set(error, -EINVAL,
				 "context has no queue pair to connect; call manual_qp_open first");
	code = manual_qp_check(ctx, remote, error);
	if (code)
		return code;
	ctx->state->path.other = *remote;
	code = ready_to_receive(ctx, error);
	if (!code)
		code = ready_to_send(ctx, error);
	if (!code)
		code = make_route(ctx, error);
	if (!code)
		code = attach(ctx, error);
	if (code)
		return code;
	ctx->remote = (struct rdma_remote){
		.address = remote->address, .size = remote->size, .rkey = remote->rkey};
	ctx->state->connected = true;
	return 0;
}

void manual_qp_aim(const struct rdma_context *ctx, struct post_work *work)
{
	work->remote = ctx->remote.address;
	work->rkey = ctx->remote.rkey;
	work->route = ctx->state->path.route;
}

struct ibv_ah_attr manual_qp_address_vector(const struct rdma_context *ctx)
{
	return address_vector(ctx->state);
}
