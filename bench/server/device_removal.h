/* SPDX-License-Identifier: MIT */
/*
 * Detects the removal of devices. The kernel reports it only to rdma_cm identifiers that are bound
 * to the device, and waits until every process has released the device.
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

/* Binds an identifier to each port that has an address leading to its device. */
int device_removal_open(struct device_removal *removal, const struct device_list *devices,
			struct error *error);
void device_removal_close(struct device_removal *removal);

/* Returns a descriptor, readable when device_removal_check should be called; -1: none. */
int device_removal_fd(const struct device_removal *removal);

/* Returns -ENODEV and an error that names the device if one was removed; otherwise 0. */
int device_removal_check(struct device_removal *removal, struct error *error);

#endif
