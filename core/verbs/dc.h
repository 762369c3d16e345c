/* SPDX-License-Identifier: MIT */
/*
 * DC, the dynamically connected transport of mlx5: an initiator (DCI) sends to any number of
 * targets (DCT), which receive into a shared receive queue. Needs libmlx5; see provider.h.
 */
#ifndef CORE_VERBS_DC_H
#define CORE_VERBS_DC_H

#include <infiniband/verbs.h>

struct route;

/*
 * Creates an initiator, ignoring what concerns receives. Like ibv_create_qp_ex, returns NULL with
 * errno set on failure: EOPNOTSUPP without libmlx5, or on devices of others.
 */
struct ibv_qp *dc_create_initiator(struct ibv_context *verbs, struct ibv_qp_init_attr_ex *attr);

/*
 * Creates a target, likewise. It accepts requests that contain the key. Its number is known once it
 * is ready to receive.
 */
struct ibv_qp *dc_create_target(struct ibv_pd *pd, struct ibv_srq *srq, struct ibv_cq *cq,
				uint64_t key);

/* Returns what dc_set_target needs of an initiator. */
void *dc_extend(struct ibv_qp_ex *qpx);

/* Sets the target of the request that is being built by ibv_wr_*. */
void dc_set_target(const struct route *route);

#endif
