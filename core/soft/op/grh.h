/* SPDX-License-Identifier: MIT */
/*
 * The 40 bytes in front of a datagram. RoCE v2 puts the IP header there: an IPv6 header fills them,
 * an IPv4 header occupies the last 20.
 */
#ifndef CORE_SOFT_OP_GRH_H
#define CORE_SOFT_OP_GRH_H

#include <infiniband/verbs.h>
#include <stdint.h>

#include "core/soft/peer/image.h"

void soft_grh_write(unsigned char grh[static SOFT_GRH], const union ibv_gid *from,
		    const union ibv_gid *to, uint8_t traffic_class, uint32_t length);

void soft_grh_read(const void *grh, union ibv_gid *from, union ibv_gid *to, uint8_t *traffic_class);

/*
 * Returns the service level of a datagram's completion. mlx5 reports whether the header is IPv6 (1)
 * or IPv4 (2) there, and UCX relies on that.
 */
static inline uint8_t soft_grh_level(const unsigned char grh[static SOFT_GRH])
{
	return grh[0] >> 4 == 6 ? 1 : 2;
}

#endif
