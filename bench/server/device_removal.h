/* SPDX-License-Identifier: MIT */
/*
 * Notice of devices that are removed. The kernel tells it to identifiers of the
 * connection manager that are bound to a device, and to nobody else; and it waits
 * until every process has let go of the device.
 */
#ifndef BENCH_SERVER_DEVICE_REMOVAL_H
#define BENCH_SERVER_DEVICE_REMOVAL_H

#include <rdma/rdma_cma.h>

#include "core/verbs/device.h"

#define DEVICE_REMOVAL_MAX 64

struct device_removal {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *ids[DEVICE_REMOVAL_MAX];
	size_t n_ids;
};

/* Binds an identifier to each port by an address of its own, unless all lead to other devices. */
int device_removal_open(struct device_removal *removal, const struct device_list *devices,
			struct error *error);
void device_removal_close(struct device_removal *removal);

/* Readable when there is news for device_removal_check; -1: nothing is watched. */
int device_removal_fd(const struct device_removal *removal);

/* -ENODEV with the device's name once one was removed; else 0. */
int device_removal_check(struct device_removal *removal, struct error *error);

#endif
