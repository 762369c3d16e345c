/* SPDX-License-Identifier: MIT */
/*
 * Tells hardware from software devices, whose results say nothing about RDMA hardware. The
 * kind is determined from the device and the kernel, never from how the program was
 * started.
 */
#ifndef CORE_VERBS_DEVICE_KIND_H
#define CORE_VERBS_DEVICE_KIND_H

#include <infiniband/verbs.h>
#include <stdbool.h>

enum device_kind {
	DEVICE_KIND_UNKNOWN, /* zero: not determined */
	DEVICE_KIND_HARDWARE,
	DEVICE_KIND_RXE, /* the kernel's Soft-RoCE */
	DEVICE_KIND_SIW, /* the kernel's software iWARP */
	DEVICE_KIND_OTHER,
	DEVICE_KIND_SOFT,
};

/* Looks the device up below root. A device that the kernel does not know is DEVICE_KIND_OTHER. */
enum device_kind device_kind_find(const char *root, const char *device);

/* Returns whether the device is soft0 of core/soft, which has a vendor id of its own. */
bool device_kind_is_soft(const struct ibv_device_attr *attr);

/*
 * Returns whether peers on this device may map shared memory of a process. With
 * VERBMARK_SOFT_COPY set, soft0 maps nothing, and the kernel copies anonymous memory faster
 * than shared memory.
 */
bool device_kind_is_mapped(const struct ibv_device_attr *attr);

/* Returns "hardware", "rxe", "siw", "other" or "soft"; NULL for DEVICE_KIND_UNKNOWN. */
const char *device_kind_name(enum device_kind kind);
enum device_kind device_kind_named(const char *name);

#endif
