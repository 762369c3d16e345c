/* SPDX-License-Identifier: MIT */
/*
 * Membership in a multicast group. It is joined through rdma_cm, which makes the network forward the
 * group's packets to the port: switches learn of it by IGMP or MLD, and an InfiniBand subnet by its
 * manager. Queue pairs are attached to the group by core/rdma/manual_qp.h.
 */
#ifndef CORE_RDMA_MULTICAST_H
#define CORE_RDMA_MULTICAST_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <sys/socket.h>

#include "core/base/alarm.h"
#include "core/base/error.h"

/* The queue pair number of all groups. */
#define MULTICAST_QPN 0xffffff

struct multicast {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;         /* NULL: not joined */
	struct sockaddr_storage group; /* zeroed: not joined */
	struct ibv_ah_attr address;
	/*
	 * The Q_Key of receivers. InfiniBand groups have one. On Ethernet it is random, so that
	 * receivers drop messages of other programs.
	 */
	uint32_t qkey;
};

/*
 * Joins a group (an IP address) on the named device, by a local address of the same family. A raised
 * alarm (NULL is allowed) ends the wait for the network's answer.
 */
int multicast_join(struct multicast *multicast, const char *device,
		   const struct sockaddr_storage *local, const struct sockaddr_storage *group,
		   struct alarm *alarm, struct error *error);

/* Leaves the group. Detach all queue pairs before. Accepts a zeroed struct. */
void multicast_leave(struct multicast *multicast);

#endif
