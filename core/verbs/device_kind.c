/* SPDX-License-Identifier: MIT */
#include "core/verbs/device_kind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/compiler.h"

#define CLASS    "/sys/class/infiniband"
#define NODE_SIW "Software iWARP stack"

static bool has(const char *root, const char *device, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s" CLASS "/%.63s/%s", root, device, name);
	return !access(path, F_OK);
}

static bool is_siw(const char *root, const char *device)
{
	char path[512];
	char line[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "%s" CLASS "/%.63s/node_desc", root, device);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (fgets(line, sizeof(line), file))
		line[strcspn(line, "\n")] = '\0';
	fclose(file);
	return !strcmp(line, NODE_SIW);
}

/*
 * Soft-RoCE alone has "parent". Kernels have hung both kinds of software devices below
 * the network card that they use, so that a device above proves no hardware.
 */
enum device_kind device_kind_find(const char *root, const char *device)
{
	if (has(root, device, "parent"))
		return DEVICE_KIND_RXE;
	if (is_siw(root, device))
		return DEVICE_KIND_SIW;
	return has(root, device, "device") ? DEVICE_KIND_HARDWARE : DEVICE_KIND_OTHER;
}

bool device_kind_is_soft(const struct ibv_device_attr *attr)
{
	return !attr->vendor_id && !strcmp(attr->fw_ver, "soft");
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
