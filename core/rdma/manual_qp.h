/* SPDX-License-Identifier: MIT */
/*
 * Queue pairs connected without rdma_cm: for fabrics without IP addresses, for UC, UD, XRC,
 * DC and SRD, and for an MTU, GID index, service level or traffic class that rdma_cm cannot set. Client
 * and server exchange their struct manual_qp_address over a channel of their own, which
 * must also report when the peer goes away. The context borrows an endpoint. Its settings
 * provide depths, retries, timers and outstanding reads. Operations are posted with
 * core/verbs/post.h, and rdma_close releases it. Functions return 0 or a negative errno
 * with the error set.
 */
#ifndef CORE_RDMA_MANUAL_QP_H
#define CORE_RDMA_MANUAL_QP_H

#include "core/rdma/endpoint.h"
#include "core/rdma/rdma.h"
#include "core/verbs/limits.h"

#define MANUAL_QP_GID_BEST (-1)
#define MANUAL_QP_GID_ANY  (-2)

struct multicast;

struct manual_qp_settings {
	enum transport transport;
	uint8_t port; /* 1 if 0 */
	/*
	 * MANUAL_QP_GID_BEST on Ethernet prefers RoCE v2 over v1, then the GID of the address,
	 * then IPv4-mapped, global and link-local ones, then the lowest index. On InfiniBand it
	 * uses LIDs without a GID. MANUAL_QP_GID_ANY chooses a GID on InfiniBand, too.
	 */
	int gid_index;
	struct ibv_mr *region;           /* as for context_set_region; NULL: the endpoint's */
	struct sockaddr_storage address; /* the local address that the peer uses, or AF_UNSPEC */
	enum ibv_mtu mtu; /* the port's active MTU if 0; the smaller of both sides is used */
	uint16_t pkey_index;
	uint8_t sl;
	uint8_t path_bits;     /* added to both LIDs; InfiniBand only */
	uint8_t traffic_class; /* the whole byte: DSCP in the upper six bits */
	uint8_t hop_limit;     /* 64 if 0; on RoCE v2 the kernel uses its route's limit */
	uint32_t flow_label;   /* on RoCE v2 it determines the UDP source port */
	/*
	 * Datagrams: a group that the queue pair sends to or receives from, instead of its peer; or
	 * NULL. It outlives the queue pair.
	 */
	const struct multicast *group;
	bool is_member; /* it receives from the group */
};

/* Connection parameters sent to the peer. manual_qp_connect checks received ones. */
struct manual_qp_address {
	uint16_t lid;
	uint8_t gid[16];
	uint32_t qpn;
	uint32_t psn;
	enum ibv_mtu mtu;
	uint8_t reads;   /* reads and atomics that this side can answer concurrently */
	uint32_t qkey;   /* of UD and SRD, or the key of a target of DC */
	uint32_t target; /* XRC and DC only: the queue pair that receives */
	uint32_t srqn;   /* XRC only: the shared receive queue */
	uint64_t address;
	uint64_t size;
	uint32_t rkey;
};

/* Creates the queue pair of a zeroed context with settings. Releases everything on failure. */
int manual_qp_open(struct rdma_context *ctx, struct endpoint *endpoint,
		   const struct manual_qp_settings *settings, struct error *error);

/* Returns the local address to send to the peer. */
void manual_qp_local(const struct rdma_context *ctx, struct manual_qp_address *address);

/*
 * Connects to the peer, whose buffer is in ctx->remote afterwards. Post receives before the
 * call: the peer may send as soon as it is connected. A rejected address (-EPROTO) changes
 * nothing; after any other failure, only rdma_close may be called.
 */
int manual_qp_connect(struct rdma_context *ctx, const struct manual_qp_address *remote,
		      struct error *error);

/*
 * Returns whether the port addresses its peers by LID, as on InfiniBand. Ports with any
 * other link layer use GIDs.
 */
bool manual_qp_has_lids(const struct ibv_port_attr *port);

/*
 * Returns the rank of a GID for MANUAL_QP_GID_BEST on Ethernet, for a local address (NULL:
 * any). Higher is better; 0 is unusable.
 */
unsigned int manual_qp_rank_gid(const struct ibv_gid_entry *entry,
				const struct sockaddr_storage *address);

/* Detaches the queue pair from its group, if any, so that it can be destroyed. */
void manual_qp_detach(const struct rdma_context *ctx);

/* Fills in the peer's buffer, key and route in a work request. */
void manual_qp_aim(const struct rdma_context *ctx, struct post_work *work);

/* Returns the address vector of the connected queue pair. */
struct ibv_ah_attr manual_qp_address_vector(const struct rdma_context *ctx);

#endif
