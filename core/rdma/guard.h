/* SPDX-License-Identifier: MIT */
/*
 * What watches over a context: asynchronous events of its device and CM events of
 * its connection raise the alarm of its ground, in the watcher's thread.
 */
#ifndef CORE_RDMA_GUARD_H
#define CORE_RDMA_GUARD_H

#include "core/rdma/context.h"
#include "core/verbs/device.h"

/* Once conn has a device and the queues are made. */
int guard_device(struct rdma_context *ctx, struct error *error);

/* Once the connection is up: its events come by channel. */
int guard_connection(struct rdma_context *ctx, struct rdma_event_channel *channel,
		     struct error *error);

/* Before any of it is destroyed. */
void guard_release(struct rdma_context *ctx);

/*
 * The removal of the device, which the kernel tells to those that are bound to it by
 * rdma_cm. Where that cannot be, for want of an address that leads to it, an asynchronous
 * event tells, of a device that has such; rxe has not.
 */
int guard_ground(struct endpoint *endpoint, struct error *error);
void guard_release_ground(struct endpoint *endpoint);

/*
 * Makes an identifier that is told of the removal of a port's device, by one of its addresses.
 * The kernel binds whatever device has an address, and one in software may have a card's. 1: it
 * is made; 0: none of them leads to the device; else a negative errno.
 */
int guard_port(struct rdma_cm_id **id, struct rdma_event_channel *channel,
	       const struct device_port *port);

#endif
