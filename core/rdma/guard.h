/* SPDX-License-Identifier: MIT */
/*
 * Watches a context: asynchronous events of its device and CM events of its connection
 * raise the endpoint's alarm, in the watcher's thread.
 */
#ifndef CORE_RDMA_GUARD_H
#define CORE_RDMA_GUARD_H

#include "core/rdma/context.h"
#include "core/verbs/device.h"

/* Watches the device. Call when conn has a device and the queues exist. */
int guard_device(struct rdma_context *ctx, struct error *error);

/* Watches the connection, whose events arrive on channel. Call when it is established. */
int guard_connection(struct rdma_context *ctx, struct rdma_event_channel *channel,
		     struct error *error);

/* Stops watching. Call before anything watched is destroyed. */
void guard_release(struct rdma_context *ctx);

/*
 * Watches for the removal of the device, which the kernel reports only to ids bound by
 * rdma_cm. Without an address to bind to, removal is seen only if the device reports an
 * asynchronous event, which rxe does not.
 */
int guard_endpoint(struct endpoint *endpoint, struct error *error);
void guard_release_endpoint(struct endpoint *endpoint);

/*
 * Creates an id that receives the removal event of a port's device, bound to one of its
 * addresses. A software device can share its address with a NIC, so the kernel may bind to
 * the wrong one. Returns 1 if the id was created, 0 if no address leads to the device, or
 * a negative errno.
 */
int guard_port(struct rdma_cm_id **id, struct rdma_event_channel *channel,
	       const struct device_port *port);

#endif
