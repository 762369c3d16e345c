/* SPDX-License-Identifier: MIT */
/*
 * Asynchronous events. The process that detects one, often a peer, leaves it in the owner's arena
 * and rings the doorbell. The owner's service thread passes it on to the context of the object.
 */
#ifndef CORE_SOFT_OP_EVENT_H
#define CORE_SOFT_OP_EVENT_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdint.h>

struct soft_peer;
struct soft_event;

/* Events of a context that have not been fetched. */
struct soft_events {
	int fd;
	pthread_mutex_t mutex;
	struct soft_event *first;
	struct soft_event **last;
};

/* Returns 0 or a negative errno. */
int soft_event_init(struct soft_events *events);
void soft_event_finish(struct soft_events *events);

/* Leaves an event about the owner's object with this index and rings the doorbell. */
void soft_event_leave(struct soft_peer *owner, uint32_t type, uint32_t index);

/* Reports an event of the port or the device to a context. */
void soft_event_report(struct soft_events *events, enum ibv_event_type type, int port);

/* Passes events on to their contexts. Service thread only. */
void soft_event_distribute(void);

/* Call before a context is closed. Its remaining objects are no longer found and get no events. */
void soft_event_orphan(const struct ibv_context *context);

/* Consumes `count` wakeups of the descriptor whose events will not be fetched. */
void soft_event_unring(int fd, uint32_t count);

/* Drops an object's events that were not fetched. Call before the object is destroyed. */
void soft_event_drop(struct soft_events *events, const void *object);

/* Waits until all events that were fetched have been acknowledged. */
void soft_event_await(pthread_mutex_t *mutex, pthread_cond_t *condition,
		      const uint32_t *acknowledged, const uint32_t *fetched);

#endif
