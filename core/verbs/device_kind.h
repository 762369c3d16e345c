/* SPDX-License-Identifier: MIT */
/*
 * What a device is made of: a card, software of the kernel, or the software device of
 * core/soft, whose figures say nothing of RDMA hardware. The device itself is asked, and
 * the kernel, never the way in which the program was started.
 */
#ifndef CORE_VERBS_DEVICE_KIND_H
#define CORE_VERBS_DEVICE_KIND_H

#include <infiniband/verbs.h>
#include <stdbool.h>

enum device_kind {
	DEVICE_KIND_UNKNOWN, /* zero: nobody has told */
	DEVICE_KIND_HARDWARE,
	DEVICE_KIND_RXE, /* the kernel's Soft-RoCE */
	DEVICE_KIND_SIW, /* and its software iWARP */
	DEVICE_KIND_OTHER,
	DEVICE_KIND_SOFT,
};

/* As the kernel has it, below a root; one that it does not have is DEVICE_KIND_OTHER. */
enum device_kind device_kind_find(const char *root, const char *device);

/* Whether the device says that it is the one of core/soft: that has no vendor. */
bool device_kind_is_soft(const struct ibv_device_attr *attr);

/*
 * Whether peers may map what a process on it shares: not those of one that is to let them map
 * none, whose memory the kernel copies sooner where it is no file's. That alone the environment
 * tells here (VERBMARK_SOFT_COPY), as it tells the device.
 */
bool device_kind_is_mapped(const struct ibv_device_attr *attr);

/* "hardware", "rxe", "siw", "other", "soft"; NULL of the unknown one. */
const char *device_kind_name(enum device_kind kind);
enum device_kind device_kind_named(const char *name);

#endif
