/* SPDX-License-Identifier: MIT */
#include "core/limits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>

#define BITS_5 31
#define BITS_3 7

static uint64_t least(int a, int b)
{
	int lesser = a < b ? a : b;

	return lesser > 0 ? (uint64_t)lesser : 0;
}

static void check(struct error *error, const char *what, uint64_t asked, uint64_t allowed)
{
	if (asked > allowed)
		error_set(error, -EINVAL, "%s %" PRIu64 " exceeds the device's limit %" PRIu64,
			  what, asked, allowed);
}

int limits_check(const struct limits *wanted, const struct ibv_device_attr *device,
		 const struct ibv_port_attr *port, struct error *error)
{
	uint64_t depth = least(device->max_qp_wr, INT32_MAX);
	uint64_t reads = least(device->max_qp_rd_atom, device->max_qp_init_rd_atom);
	uint64_t cqes = (uint64_t)wanted->send_depth + wanted->recv_depth;

	/* Each is looked at; the first fault is the one that the error keeps. */
	check(error, "send queue depth", wanted->send_depth, depth);
	check(error, "receive queue depth", wanted->recv_depth, depth);
	check(error, "completion queue depth", cqes, least(device->max_cqe, INT32_MAX));
	check(error, "number of scatter-gather entries", wanted->sge,
	      least(device->max_sge, INT32_MAX));
	check(error, "number of outstanding reads", wanted->reads, reads);
	check(error, "message size", wanted->message_bytes, port->max_msg_sz);
	check(error, "acknowledgement timeout", wanted->ack_timeout, BITS_5);
	check(error, "retry count", wanted->retries, BITS_3);
	check(error, "RNR retry count", wanted->rnr_retries, BITS_3);
	check(error, "RNR timer", wanted->rnr_timer, BITS_5);
	return error->code;
}

/* Whether such a queue pair can be made with that much inline. */
static bool takes_inline(struct ibv_pd *pd, struct ibv_cq *cq, const struct ibv_qp_cap *cap,
			 uint32_t bytes)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .cap = *cap};
	struct ibv_qp *qp;

	attr.cap.max_inline_data = bytes;
	qp = ibv_create_qp(pd, &attr);
	if (!qp)
		return false;
	ibv_destroy_qp(qp);
	return attr.cap.max_inline_data >= bytes;
}

uint32_t limits_inline(struct ibv_pd *pd, const struct ibv_qp_cap *cap)
{
	struct ibv_cq *cq = ibv_create_cq(pd->context, 2, NULL, NULL, 0);
	uint32_t good = 0;
	uint32_t bad = cap->max_inline_data;

	if (!cq)
		return 0;
	if (bad && takes_inline(pd, cq, cap, bad))
		good = bad;
	while (good + 1 < bad) {
		uint32_t middle = good + (bad - good) / 2;

		if (takes_inline(pd, cq, cap, middle))
			good = middle;
		else
			bad = middle;
	}
	ibv_destroy_cq(cq);
	return good;
}
