/* SPDX-License-Identifier: MIT */
/*
 * The one port of the soft device, its GIDs and its P_Keys. GIDs are the addresses of the host's
 * interfaces. Loopback addresses come last, so that a machine without a network has one, too. A
 * GID stays valid even if its address is removed. All ports have the same P_Keys.
 */
#ifndef CORE_SOFT_PORT_H
#define CORE_SOFT_PORT_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <string.h>

#include "core/soft/peer/image.h"

#define SOFT_MTU IBV_MTU_4096

enum {
	SOFT_PORT = 1,
	SOFT_PKEYS = 4,
	SOFT_MTU_BYTES = 4096,
	SOFT_MESSAGE_MAX = 1 << 30,
};

/* Writes this machine's GIDs to the image. */
void soft_port_fill(struct soft_image *image);

/* Returns the GID at an index, or NULL. */
const union ibv_gid *soft_port_gid(const struct soft_image *image, uint32_t index);

/* Returns the index of a GID, or -1. */
int soft_port_index(const struct soft_image *image, const union ibv_gid *gid);

/*
 * Returns the index of a local GID, or -1. If it is unknown, looks for addresses added since the
 * device was opened, adds them as GIDs, and reports the change to all contexts.
 */
int soft_port_find(const union ibv_gid *gid);

/* Tests for an IPv4-mapped GID; makes one from the four bytes of an address. */
bool soft_port_is_v4(const union ibv_gid *gid);

static inline void soft_port_map(union ibv_gid *gid, const void *v4)
{
	memset(gid, 0, sizeof(*gid));
	gid->raw[10] = gid->raw[11] = 0xff;
	memcpy(&gid->raw[12], v4, 4);
}

void soft_port_attributes(struct ibv_port_attr *attr);

/* The verb that contexts call by pointer. */
int soft_port_query(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr,
		    size_t size);

#endif
