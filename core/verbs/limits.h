/* SPDX-License-Identifier: MIT */
/*
 * What a connection wants, held against what its device allows, before anything
 * is connected. The error says the asked and the allowed.
 */
#ifndef CORE_VERBS_LIMITS_H
#define CORE_VERBS_LIMITS_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/base/transport.h"
#include "core/verbs/post.h"

struct limits {
	enum transport transport;
	uint32_t send_depth;
	uint32_t recv_depth;
	uint32_t srq_depth;
	uint64_t cq_depth;
	uint32_t sge;
	uint32_t read_sge; /* where those of reads are counted; 0: there are none */
	uint32_t queue_pairs;
	uint32_t completion_queues;
	uint32_t srqs;
	uint32_t regions;      /* of memory that are registered */
	uint32_t reads;        /* outstanding, as initiator and as responder */
	uint64_t memory_bytes; /* of each region */
	uint64_t message_bytes;
	enum ibv_mtu mtu; /* 0: the port's active one */
	/* These have as many bits as the specification gives them. */
	uint32_t ack_timeout;
	uint32_t retries;
	uint32_t rnr_retries;
	uint32_t rnr_timer;
	uint32_t service_level;
};

/* The port is NULL where none of its limits is wanted. */
int limits_check(const struct limits *wanted, const struct ibv_device_attr *device,
		 const struct ibv_port_attr *port, struct error *error);

/* Whether the transport has that operation, and the device can do it. */
int limits_operation(enum transport transport, enum post_operation operation,
		     const struct ibv_device_attr *device, struct error *error);

/* Whether the device has atomics at all. */
bool limits_has_atomics(const struct ibv_device_attr *device);

/* What a queue pair takes inline, once it was found. */
struct limits_inline {
	enum ibv_qp_type type; /* 0: nothing was */
	struct ibv_qp_cap cap;
	uint32_t bytes;
};

/*
 * Whether the device makes queue pairs of that type: 1 or 0. No attribute tells: it is
 * tried. A negative errno where that cannot be found out now.
 */
int limits_has_type(struct ibv_pd *pd, enum ibv_qp_type type);

/*
 * Bytes that such a queue pair takes inline, at most those that its capabilities name. No
 * attribute tells: it is found with queue pairs made and thrown away. Those take room as their
 * kind, depth and pieces do, so that all of it has to be that of the one to be made; only their
 * completion queue is another. Where there is no extended interface, it is left out.
 */
uint32_t limits_inline(const struct ibv_qp_init_attr_ex *wanted);

/* Bytes of an MTU, and the MTU of so many bytes: 0 if there is none. */
unsigned int limits_mtu_bytes(enum ibv_mtu mtu);
enum ibv_mtu limits_mtu(unsigned int bytes);

#endif
