/* SPDX-License-Identifier: MIT */
/*
 * The connection manager: what listens is bound, and events are awaited with a deadline,
 * copied with their private data, acknowledged before anybody acts on them.
 */
#ifndef CORE_RDMA_CM_H
#define CORE_RDMA_CM_H

#include <rdma/rdma_cma.h>

#include "core/base/alarm.h"

struct cm_event {
	struct rdma_cm_event event; /* its private data point into data */
	uint8_t data[256];
};

int cm_channel_open(struct rdma_event_channel **channel, struct error *error);

/*
 * Binds who is to listen to that address, which takes the port over, or to all of them.
 * Without an error: a port that is taken is -EADDRINUSE, whatever the kernel calls it.
 */
int cm_bind(struct rdma_cm_id *listener, struct sockaddr_storage *address, uint16_t port);
int cm_bind_all(struct rdma_cm_id *listener, uint16_t port);

/* Turns a request to connect away, with a reason for the other end's user. */
void cm_reject(struct rdma_cm_id *id, const char *reason);

/*
 * Whether the other end has given its request up. No event tells of it before it is accepted,
 * and what fails then says nothing of it either; but it takes no queue pair any more.
 */
bool cm_has_gone(struct rdma_cm_id *id);

/* Takes one event if there is any: 1, 0, or a negative errno. */
int cm_take(struct rdma_event_channel *channel, struct cm_event *event, struct error *error);

/*
 * Waits for an event. -ETIMEDOUT past the deadline (UINT64_MAX: none), without an
 * error set; an alarm, which may be NULL, ends it.
 */
int cm_wait(struct rdma_event_channel *channel, struct cm_event *event, uint64_t deadline_ns,
	    struct alarm *alarm, struct error *error);

/* What an event that was not waited for means, as a sentence. */
int cm_unexpected(const struct cm_event *event, struct error *error);

#endif
