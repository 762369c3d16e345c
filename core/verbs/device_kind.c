/* SPDX-License-Identifier: MIT */
#include "core/verbs/device_kind.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/base/sysfs.h"

#define CLASS    "/sys/class/infiniband"
#define NODE_SIW "Software iWARP stack"

enum {
	VENDOR_SOFT = 0x02766d, /* as in soft0's GUID; locally administered */
};

/*
 * Only Soft-RoCE has "parent". Some kernels place both kinds of software devices below the
 * NIC that they use, so a parent device does not prove hardware.
 */
enum device_kind device_kind_find(const char *root, const char *device)
{
	char line[64];

	if (sysfs_exists(root, CLASS "/%s/parent", device))
		return DEVICE_KIND_RXE;
	if (sysfs_line(root, line, sizeof(line), CLASS "/%s/node_desc", device) &&
	    !strcmp(line, NODE_SIW))
		return DEVICE_KIND_SIW;
	return sysfs_exists(root, CLASS "/%s/device", device) ? DEVICE_KIND_HARDWARE
							      : DEVICE_KIND_OTHER;
}

bool device_kind_is_soft(const struct ibv_device_attr *attr)
{
	return attr->vendor_id == VENDOR_SOFT && !strcmp(attr->fw_ver, "soft");
}

bool device_kind_is_mapped(const struct ibv_device_attr *attr)
{
	const char *copying = getenv("VERBMARK_SOFT_COPY");

	return device_kind_is_soft(attr) && !(copying && *copying);
}

static const char *const names[] = {
	[DEVICE_KIND_UNKNOWN] = NULL,  [DEVICE_KIND_HARDWARE] = "hardware",
	[DEVICE_KIND_RXE] = "rxe",     [DEVICE_KIND_SIW] = "siw",
	[DEVICE_KIND_OTHER] = "other", [DEVICE_KIND_SOFT] = "soft",
};

const char *device_kind_name(enum device_kind kind)
{
	return names[kind];
}

enum device_kind device_kind_named(const char *name)
{
	for (size_t i = 1; name && i < ARRAY_LENGTH(names); i++)
		if (!strcmp(names[i], name))
			return (enum device_kind)i;
	return DEVICE_KIND_UNKNOWN;
}
