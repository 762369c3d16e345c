/* SPDX-License-Identifier: MIT */
/*
 * Asynchronous events. Whoever finds one, often a peer, leaves it in the owner's arena
 * and rings; the owner's service thread gives it to the context of the object.
 */
#ifndef CORE_SOFT_OP_EVENT_H
#define CORE_SOFT_OP_EVENT_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdint.h>

struct soft_peer;
struct soft_event;

/* Of a context: those that wait to be fetched. */
struct soft_events {
	int fd;
	pthread_mutex_t mutex;
	struct soft_event *first;
	struct soft_event **last;
};

/* Returns 0 or a negative errno. */
int soft_event_init(struct soft_events *events);
void soft_event_finish(struct soft_events *events);

/* Leaves an event about the owner's object of that index, and rings. */
void soft_event_leave(struct soft_peer *owner, uint32_t type, uint32_t index);

/* Tells a context of its port, or of its device. */
void soft_event_tell(struct soft_events *events, enum ibv_event_type type, int port);

/* The service thread's: to the contexts. */
void soft_event_distribute(void);

/* Before a context goes: what is left of its objects is found no more, and gets no events. */
void soft_event_orphan(const struct ibv_context *context);

/* So many events of a descriptor will not be fetched. */
void soft_event_unring(int fd, uint32_t count);

/* Before an object goes: its events that were not fetched go, too. */
void soft_event_drop(struct soft_events *events, const void *object);

/* Waits until all that were fetched are acknowledged. */
void soft_event_await(pthread_mutex_t *mutex, pthread_cond_t *condition,
		      const uint32_t *acknowledged, const uint32_t *fetched);

#endif
