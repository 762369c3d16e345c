/* SPDX-License-Identifier: MIT */
/*
 * The queue pair of a context; with XRC and DC, one that sends and one that receives. It is created
 * through rdma_cm if the context has a connection, with the extended post interface if the
 * provider supports it. With DC, all contexts of an endpoint share the one that sends.
 */
#ifndef CORE_RDMA_QP_H
#define CORE_RDMA_QP_H

#include "core/rdma/context.h"

/* Returns the IBV_QP_EX_WITH_* flags for all operations that transport and device support. */
uint64_t qp_operations(enum transport transport, const struct ibv_device_attr *device);

/* Determines the inline size and creates the queue pair. */
int qp_open(struct rdma_context *ctx, struct error *error);
int qp_close(struct rdma_context *ctx);

#endif
