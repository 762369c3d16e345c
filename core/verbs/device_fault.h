/* SPDX-License-Identifier: MIT */
/*
 * Why a device cannot be used, as sentences that say what to do. Each returns the code of the
 * error that it sets.
 */
#ifndef CORE_VERBS_DEVICE_FAULT_H
#define CORE_VERBS_DEVICE_FAULT_H

#include "core/verbs/device.h"

/* It is there, and ibv_open_device failed with that code. */
int device_not_opened(const char *device, int code, struct error *error);

/* What of soft0 is to blame for that code, where the only device is that; NULL: nothing. */
const char *device_soft_hint(int code);

/* There is none, as far as libibverbs has it. The kernel's are below the root. */
int device_none(const char *root, struct error *error);

/* It is known, and has no address of that family (AF_UNSPEC: any) at a port that is active. */
int device_no_address(const struct device_list *list, const char *device, sa_family_t family,
		      struct error *error);

#endif
