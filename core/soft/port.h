/* SPDX-License-Identifier: MIT */
/*
 * The one port of the soft device, and its GIDs: the addresses of the host's
 * interfaces, those of the loopback last, so that a machine without a network has one. A GID
 * stays, whatever becomes of the address.
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
	SOFT_MTU_BYTES = 4096,
	SOFT_MESSAGE_MAX = 1 << 30,
};

/* Writes the GIDs of this machine into the image. */
void soft_port_fill(struct soft_image *image);

/* The GID of that index; NULL: there is none. */
const union ibv_gid *soft_port_gid(const struct soft_image *image, uint32_t index);

/* The index of a GID, or -1. */
int soft_port_index(const struct soft_image *image, const union ibv_gid *gid);

/*
 * The same of this process's own: where it is not known yet, its interface may have got it after
 * the device was opened. All that are new are GIDs from then on, and contexts are told.
 */
int soft_port_find(const union ibv_gid *gid);

/* Whether a GID stands for an IPv4 address; and the one that does for that of four bytes. */
bool soft_port_is_v4(const union ibv_gid *gid);

static inline void soft_port_map(union ibv_gid *gid, const void *v4)
{
	memset(gid, 0, sizeof(*gid));
	gid->raw[10] = gid->raw[11] = 0xff;
	memcpy(&gid->raw[12], v4, 4);
}

void soft_port_attributes(struct ibv_port_attr *attr);

/* The verb of the context, and of inline calls. */
int soft_port_query(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr,
		    size_t size);

#endif
