/* SPDX-License-Identifier: MIT */
/*
 * Connection manager helpers: bind listeners, and wait for events with a deadline. Each
 * event is copied with its private data and acknowledged before the caller acts on it.
 */
#ifndef CORE_RDMA_CM_H
#define CORE_RDMA_CM_H

#include <rdma/rdma_cma.h>

#include "core/base/alarm.h"

struct cm_event {
	struct rdma_cm_event event; /* the private data points into data */
	uint8_t data[256];
};

int cm_channel_open(struct rdma_event_channel **channel, struct error *error);

/*
 * Binds a listener to an address, setting its port, or to all addresses. Sets no error.
 * Returns -EADDRINUSE for a port in use, whichever error the kernel reports.
 */
int cm_bind(struct rdma_cm_id *listener, struct sockaddr_storage *address, uint16_t port);
int cm_bind_all(struct rdma_cm_id *listener, uint16_t port);

/* Rejects a connection request, with a reason for the client's user. */
void cm_reject(struct rdma_cm_id *id, const char *reason);

/*
 * Returns whether the client has abandoned its request. No event reports this before the
 * request is accepted, and later errors do not reveal it, but the kernel then has no queue
 * pair attributes for the id.
 */
bool cm_has_gone(struct rdma_cm_id *id);

/* Takes an event if one is pending. Returns 1, 0, or a negative errno. */
int cm_take(struct rdma_event_channel *channel, struct cm_event *event, struct error *error);

/*
 * Waits for an event. Returns -ETIMEDOUT after the deadline (UINT64_MAX: never) without
 * setting the error. A raised alarm (NULL is allowed) ends the wait.
 */
int cm_wait(struct rdma_event_channel *channel, struct cm_event *event, uint64_t deadline_ns,
	    struct alarm *alarm, struct error *error);

/* Sets the error that describes an unexpected event. Returns its code. */
int cm_unexpected(const struct cm_event *event, struct error *error);

#endif
