/* SPDX-License-Identifier: MIT */
/*
 * Applies a plan to rdma_cm events as the program would see them: an event is lost before it is
 * queued, queued later, or replaced. Functions need the rdma_cm mutex.
 */
#include "core/soft/cm/cm.h"

#include <errno.h>
#include <stdlib.h>

#include "core/soft/fault/fault.h"
#include "core/soft/time.h"

static struct soft_cm_event *late;

/* Needed because identifiers are also created without the rdma_cm mutex. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct soft_cm_id *known;

/* With a queue pair, the program sees the response as ESTABLISHED. */
static enum rdma_cm_event_type seen_as(const struct soft_cm_event *event)
{
	if (event->verbs.event == RDMA_CM_EVENT_CONNECT_RESPONSE && event->verbs.id->qp)
		return RDMA_CM_EVENT_ESTABLISHED;
	return event->verbs.event;
}

/* Returns the status that the kernel reports with an event of this type. */
static int usual_status(enum rdma_cm_event_type type)
{
	switch ((int)type) {
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
		return -ETIMEDOUT;
	case RDMA_CM_EVENT_ROUTE_ERROR:
		return -EHOSTUNREACH;
	case RDMA_CM_EVENT_CONNECT_ERROR:
		return -ECONNABORTED;
	case RDMA_CM_EVENT_REJECTED:
		return SOFT_CM_REASON_CONSUMER;
	default:
		return 0;
	}
}

/* Restores the previous state, so that the program may retry after an error event. */
static void undo(struct soft_cm_id *id, enum rdma_cm_event_type seen)
{
	if (seen == RDMA_CM_EVENT_ADDR_ERROR && id->state == SOFT_CM_ADDRESS_KNOWN)
		id->state = SOFT_CM_BOUND;
	if (seen == RDMA_CM_EVENT_ROUTE_ERROR && id->state == SOFT_CM_ROUTE_KNOWN)
		id->state = SOFT_CM_ADDRESS_KNOWN;
}

static void delay(struct soft_cm_event *event, uint64_t for_ns)
{
	event->due_ns = soft_time_ns() + for_ns;
	event->next = late;
	late = event;
	soft_fault_wake_at(event->due_ns);
}

bool soft_fault_event(struct soft_cm_event *event)
{
	const struct soft_fault *fault = soft_fault_next(SOFT_FAULT_CM, seen_as(event));

	if (!fault)
		return false;
	if (fault->act == SOFT_FAULT_OTHER) {
		event->verbs.event = (enum rdma_cm_event_type)fault->value;
		event->verbs.status = usual_status(event->verbs.event);
		undo(soft_cm_id_of(event->verbs.id), event->verbs.event);
		return false;
	}
	if (fault->act == SOFT_FAULT_LATE)
		delay(event, fault->value);
	else
		free(event);
	return true;
}

/* Removes and returns an event of one owner, or of any (NULL), that is due by then. */
static struct soft_cm_event *soft_fault_cm_take(const struct soft_cm_id *owner, uint64_t by_ns)
{
	struct soft_cm_event **at = &late;
	struct soft_cm_event *event;

	while (*at && (((*at)->owner != owner && owner) || (*at)->due_ns > by_ns))
		at = &(*at)->next;
	event = *at;
	if (event)
		*at = event->next;
	return event;
}

void soft_fault_drop_events(struct soft_cm_id *owner)
{
	struct soft_cm_event *event;

	while ((event = soft_fault_cm_take(owner, UINT64_MAX)))
		free(event);
}

uint64_t soft_fault_cm_due(uint64_t now_ns)
{
	uint64_t earliest = UINT64_MAX;
	struct soft_cm_event *event;

	pthread_mutex_lock(&soft_cm_mutex);
	while ((event = soft_fault_cm_take(NULL, now_ns)))
		soft_cm_deliver(event);
	for (event = late; event; event = event->next)
		if (event->due_ns < earliest)
			earliest = event->due_ns;
	pthread_mutex_unlock(&soft_cm_mutex);
	return earliest;
}

void soft_fault_id_made(struct soft_cm_id *id)
{
	if (!soft_fault_is_planned)
		return;
	pthread_mutex_lock(&mutex);
	id->next_known = known;
	known = id;
	pthread_mutex_unlock(&mutex);
}

void soft_fault_id_gone(struct soft_cm_id *id)
{
	struct soft_cm_id **at = &known;

	if (!soft_fault_is_planned)
		return;
	pthread_mutex_lock(&mutex);
	while (*at && *at != id)
		at = &(*at)->next_known;
	if (*at)
		*at = id->next_known;
	pthread_mutex_unlock(&mutex);
}

void soft_fault_channel_gone(const struct rdma_event_channel *channel)
{
	if (!soft_fault_is_planned)
		return;
	pthread_mutex_lock(&soft_cm_mutex);
	pthread_mutex_lock(&mutex);
	for (struct soft_cm_id *id = known; id; id = id->next_known)
		if (id->verbs.channel == channel)
			id->verbs.channel = NULL;
	pthread_mutex_unlock(&mutex);
	pthread_mutex_unlock(&soft_cm_mutex);
}

/*
 * Reports the removal to all identifiers on the device, except for requests that were not fetched.
 */
void soft_fault_cm_remove(void)
{
	pthread_mutex_lock(&soft_cm_mutex);
	pthread_mutex_lock(&mutex);
	for (struct soft_cm_id *id = known; id; id = id->next_known)
		if (id->verbs.verbs && !id->listener)
			soft_cm_raise(id, RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
	pthread_mutex_unlock(&mutex);
	pthread_mutex_unlock(&soft_cm_mutex);
}
