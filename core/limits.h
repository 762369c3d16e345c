/* SPDX-License-Identifier: MIT */
/*
 * What a connection wants, held against what its device allows, before anything
 * is connected. The error says the asked and the allowed.
 */
#ifndef CORE_LIMITS_H
#define CORE_LIMITS_H

#include <infiniband/verbs.h>
#include <stdint.h>

#include "core/error.h"

struct limits {
	uint32_t send_depth;
	uint32_t recv_depth;
	uint32_t sge;
	uint32_t reads; /* outstanding, as initiator and as responder */
	uint64_t message_bytes;
	/* These have as many bits as the specification gives them. */
	uint32_t ack_timeout;
	uint32_t retries;
	uint32_t rnr_retries;
	uint32_t rnr_timer;
};

int limits_check(const struct limits *wanted, const struct ibv_device_attr *device,
		 const struct ibv_port_attr *port, struct error *error);

/*
 * Bytes that a queue pair of these capabilities takes inline, at most those that it
 * names. No attribute tells: it is found with queue pairs made and thrown away.
 */
uint32_t limits_inline(struct ibv_pd *pd, const struct ibv_qp_cap *cap);

#endif
