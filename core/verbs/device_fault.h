/* SPDX-License-Identifier: MIT */
/*
 * Errors about devices that cannot be used, with what to do about it. Each function returns
 * the code of the error that it sets.
 */
#ifndef CORE_VERBS_DEVICE_FAULT_H
#define CORE_VERBS_DEVICE_FAULT_H

#include "core/verbs/device.h"

/* The device exists, but ibv_open_device failed with that code. */
int device_not_opened(const char *device, int code, struct error *error);

/*
 * Returns what to do about a failure of soft0 with that code, if soft0 is the only device;
 * otherwise NULL.
 */
const char *device_soft_hint(int code);

/* libibverbs has no device. Looks up the kernel's devices below root. */
int device_none(const char *root, struct error *error);

/* The device has no address of that family (AF_UNSPEC: any) at an active port. */
int device_no_address(const struct device_list *list, const char *device, sa_family_t family,
		      struct error *error);

#endif
