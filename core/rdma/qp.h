/* SPDX-License-Identifier: MIT */
/*
 * The queue pair of a context: on its ground, of its transport, by rdma_cm where it has a
 * connection, with the extended post interface where the provider has that.
 */
#ifndef CORE_RDMA_QP_H
#define CORE_RDMA_QP_H

#include "core/rdma/context.h"

enum ibv_qp_type qp_type_of(enum transport transport);

/* What it is to be able to post: all of core/verbs/post.h that the transport has, and the device. */
uint64_t qp_operations(enum transport transport, const struct ibv_device_attr *device);

/* Finds out what goes inline, and makes it. */
int qp_open(struct rdma_context *ctx, struct error *error);
int qp_close(struct rdma_context *ctx);

#endif
