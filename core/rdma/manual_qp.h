/* SPDX-License-Identifier: MIT */
/*
 * Queue pairs connected by hand, without rdma_cm: for fabrics without IP addresses,
 * for UC and UD, and for an MTU, a GID index, a service level or a traffic class that
 * rdma_cm does not carry. The two ends exchange their struct manual_qp_address by a channel
 * of their own, which also has to tell when the other one goes: nothing here does. The
 * context borrows a ground; depths, retries, timers and outstanding reads are those of
 * its settings; operations are posted by core/verbs/post.h; rdma_close releases it. Functions
 * return 0 or a negative errno with the error.
 */
#ifndef CORE_RDMA_MANUAL_QP_H
#define CORE_RDMA_MANUAL_QP_H

#include "core/rdma/endpoint.h"
#include "core/rdma/rdma.h"
#include "core/verbs/limits.h"

#define MANUAL_QP_GID_BEST (-1)
#define MANUAL_QP_GID_ANY  (-2)

struct manual_qp_settings {
	enum transport transport;
	uint8_t port; /* 1 if 0 */
	/*
	 * MANUAL_QP_GID_BEST on Ethernet: RoCE v2 before v1, then that of the address, then
	 * IPv4-mapped, global and link-local, then the lowest; on InfiniBand: LIDs only,
	 * without a GID. MANUAL_QP_GID_ANY: such a one there, too.
	 */
	int gid_index;
	struct sockaddr_storage address; /* by which the other end knows this one, or none */
	enum ibv_mtu mtu; /* the port's active one if 0; of both ends the smaller is used */
	uint8_t sl;
	uint8_t traffic_class; /* the whole byte: DSCP in its upper six bits */
	uint8_t hop_limit;     /* 64 if 0; on RoCE v2 the kernel takes its route's */
};

/* What the other end must know. All of it comes from a peer: manual_qp_connect checks it. */
struct manual_qp_address {
	uint16_t lid;
	uint8_t gid[16];
	uint32_t qpn;
	uint32_t psn;
	enum ibv_mtu mtu;
	uint8_t reads; /* and atomics, that this end answers at a time */
	uint32_t qkey; /* of UD */
	uint64_t address;
	uint64_t size;
	uint32_t rkey;
};

/*
 * Makes the queue pair of a zeroed context with settings. After a failure nothing is
 * held any more.
 */
int manual_qp_open(struct rdma_context *ctx, struct endpoint *endpoint,
		   const struct manual_qp_settings *settings, struct error *error);

/* What to tell the other end. */
void manual_qp_local(const struct rdma_context *ctx, struct manual_qp_address *address);

/*
 * Connects it to the other end, whose buffer is in ctx->remote afterwards. Receives may
 * be posted before, and should: the other end sends as soon as it is connected. An
 * address that is refused (-EPROTO) changes nothing; after another failure only
 * rdma_close is of use.
 */
int manual_qp_connect(struct rdma_context *ctx, const struct manual_qp_address *remote,
		      struct error *error);

/* Whether its ends are told apart by LIDs: of devices of a link layer of their own by GIDs. */
bool manual_qp_has_lids(const struct ibv_port_attr *port);

/*
 * How well a GID on Ethernet suits, as MANUAL_QP_GID_BEST sees it, of an end of that address (NULL:
 * any): more is better, 0 is none.
 */
unsigned int manual_qp_rank_gid(const struct ibv_gid_entry *entry,
				const struct sockaddr_storage *address);

/* Aims a request at the other end: its buffer and key, and the route there. */
void manual_qp_aim(const struct rdma_context *ctx, struct post_work *work);

/* Returns the address vector of its packets, once it is connected. */
struct ibv_ah_attr manual_qp_address_vector(const struct rdma_context *ctx);

#endif
