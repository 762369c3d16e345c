/* SPDX-License-Identifier: MIT */
/*
 * Checks requested resources against the limits of the device before connecting. Errors
 * name the requested and the allowed value.
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
	uint32_t read_sge; /* for reads, if the device limits those separately; 0: no reads */
	uint32_t queue_pairs;
	uint32_t completion_queues;
	uint32_t srqs;
	uint32_t regions;      /* number of registered memory regions */
	uint32_t reads;        /* outstanding, as initiator and as responder */
	uint64_t memory_bytes; /* of the largest region */
	uint64_t all_bytes;    /* of all allocations, in whole pages of 4 KiB */
	uint64_t message_bytes;
	enum ibv_mtu mtu; /* 0: the port's active one */
	/* Limited by their field width in the specification. */
	uint32_t ack_timeout;
	uint32_t retries;
	uint32_t rnr_retries;
	uint32_t rnr_timer;
	uint32_t service_level;
};

/* port may be NULL if no port limit is requested. */
int limits_check(const struct limits *wanted, const struct ibv_device_attr *device,
		 const struct ibv_port_attr *port, struct error *error);

/* Fails if the transport or the device does not support the operation. */
int limits_operation(enum transport transport, enum post_operation operation,
		     const struct ibv_device_attr *device, struct error *error);

/* Returns whether the device supports atomics. */
bool limits_has_atomics(const struct ibv_device_attr *device);

/* A known inline limit of a queue pair. */
struct limits_inline {
	enum transport transport;
	struct ibv_qp_cap cap;
	uint32_t bytes; /* 0: none is known */
};

/*
 * Returns 1 if the device can create queue pairs of that transport, 0 if not, or a negative
 * errno if that could not be determined. No attribute reports it, so the function creates
 * one.
 */
int limits_has_transport(struct ibv_pd *pd, enum transport transport);

/*
 * Returns the number of bytes that such a queue pair can send inline, at most the requested
 * number. No attribute reports it, so the function creates and destroys queue pairs. Transport,
 * depths and scatter/gather elements affect the limit and must be those of the final queue
 * pair; only the CQ is replaced. Falls back to queue pairs without the extended interface.
 */
uint32_t limits_inline(enum transport transport, const struct ibv_qp_init_attr_ex *wanted);

/* Convert between an MTU and its bytes. Return 0 if there is no such MTU. */
unsigned int limits_mtu_bytes(enum ibv_mtu mtu);
enum ibv_mtu limits_mtu(unsigned int bytes);

#endif
