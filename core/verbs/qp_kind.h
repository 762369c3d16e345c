/* SPDX-License-Identifier: MIT */
/*
 * How queue pairs of each transport are created. Types that libibverbs does not know are created by
 * the library of their device.
 */
#ifndef CORE_VERBS_QP_KIND_H
#define CORE_VERBS_QP_KIND_H

#include <infiniband/verbs.h>

#include "core/base/transport.h"

struct qp_kind {
	enum ibv_qp_type type;
	/* Ignores attributes that the transport does not have. Returns NULL with errno set. */
	struct ibv_qp *(*create)(struct ibv_context *verbs, struct ibv_qp_init_attr_ex *attr);
};

/* Indexed by enum transport; of two queue pairs, the one that sends. */
extern const struct qp_kind qp_kinds[TRANSPORTS];

#endif
