/* SPDX-License-Identifier: MIT */
#include "core/soft/op/event.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/soft/device.h"
#include "core/soft/export.h"
#include "core/soft/op/cq.h"
#include "core/soft/op/qp.h"
#include "core/soft/op/srq.h"
#include "core/soft/op/xrc.h"
#include "core/soft/peer/process.h"

struct soft_event {
	struct soft_event *next;
	struct ibv_async_event verbs;
};

int soft_event_init(struct soft_events *events)
{
	memset(events, 0, sizeof(*events));
	events->fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	if (events->fd < 0)
		return -errno;
	pthread_mutex_init(&events->mutex, NULL);
	events->last = &events->first;
	return 0;
}

void soft_event_finish(struct soft_events *events)
{
	while (events->first) {
		struct soft_event *event = events->first;

		events->first = event->next;
		free(event);
	}
	close(events->fd);
	pthread_mutex_destroy(&events->mutex);
}

/* If the ring is full, the event is lost, as on a device. */
void soft_event_leave(struct soft_peer *owner, uint32_t type, uint32_t index)
{
	struct soft_events_image *ring = &owner->arena->image->events;
	uint32_t tail;

	soft_lock_take(&ring->lock);
	tail = atomic_load(&ring->tail);
	if (tail - atomic_load(&ring->head) < SOFT_EVENTS) {
		ring->event[tail % SOFT_EVENTS] = (struct soft_event_image){type, index};
		atomic_store(&ring->tail, tail + 1);
	}
	soft_lock_release(&ring->lock);
	soft_peer_ring(owner);
}

static void append(struct soft_events *events, const struct ibv_async_event *verbs)
{
	struct soft_event *event = calloc(1, sizeof(*event));
	uint64_t one = 1;

	if (!event)
		return;
	event->verbs = *verbs;
	pthread_mutex_lock(&events->mutex);
	*events->last = event;
	events->last = &event->next;
	if (write(events->fd, &one, sizeof(one)) < 0)
		errno = 0; /* the counter is full, so the reader wakes anyway */
	pthread_mutex_unlock(&events->mutex);
}

void soft_event_report(struct soft_events *events, enum ibv_event_type type, int port)
{
	struct ibv_async_event verbs = {.event_type = type, .element.port_num = port};

	append(events, &verbs);
}

static struct soft_table *table_of(uint32_t type)
{
	switch ((int)type) {
	case IBV_EVENT_CQ_ERR:
		return &soft_process.cqs;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		return &soft_process.srqs;
	default:
		return &soft_process.qps;
	}
}

static struct ibv_context *context_of(const struct soft_table *table, void *object)
{
	if (table == &soft_process.cqs)
		return soft_cq_verbs(object)->context;
	if (table == &soft_process.srqs)
		return ((struct soft_srq *)object)->verbs.context;
	return ((struct soft_qp *)object)->verbs.qp_base.context;
}

/* The element is a union of pointers, so give() can set it through one member for all objects. */
_Static_assert(offsetof(struct soft_cq, verbs) == 0 && offsetof(struct soft_srq, verbs) == 0 &&
		       offsetof(struct soft_qp, verbs.qp_base) == 0,
	       "each object must begin with its struct of verbs.h");

/* The object may be gone. The table's mutex keeps it until the event is appended. */
static void give(const struct soft_event_image *image)
{
	struct soft_table *table = table_of(image->type);
	void *object;

	pthread_mutex_lock(&table->mutex);
	object = soft_table_get(table, image->index);
	if (object) {
		const struct ibv_async_event verbs = {.event_type = image->type,
						      .element.qp = object};

		append(&soft_device_context(context_of(table, object))->events, &verbs);
	}
	pthread_mutex_unlock(&table->mutex);
}

void soft_event_orphan(const struct ibv_context *context)
{
	struct soft_table *const tables[] = {&soft_process.qps, &soft_process.cqs,
					     &soft_process.srqs};

	for (size_t i = 0; i < ARRAY_LENGTH(tables); i++) {
		struct soft_table *table = tables[i];

		pthread_mutex_lock(&table->mutex);
		for (uint32_t number = 0; number < table->size; number++) {
			void *object = soft_table_get(table, number);

			if (object && context_of(table, object) == context)
				atomic_store(&table->object[number], table);
		}
		pthread_mutex_unlock(&table->mutex);
	}
}

static bool uses(const struct soft_qp *qp, uint32_t cq)
{
	return qp->xrcd ? soft_xrc_uses(qp->xrcd, cq)
			: qp->send_cq->number == cq || qp->recv_cq->number == cq;
}

/* After a CQ overrun, completions are lost silently, so stop all queue pairs that use the CQ. */
static void fail_users(const struct soft_event_image *image)
{
	struct soft_table *qps = &soft_process.qps;

	if (image->type != IBV_EVENT_CQ_ERR)
		return;
	pthread_mutex_lock(&qps->mutex);
	for (uint32_t i = 0; i < qps->size; i++) {
		struct soft_qp *qp = soft_table_get(qps, i);

		if (qp && uses(qp, image->index))
			soft_qp_fail(&soft_process.self, i, IBV_EVENT_QP_FATAL);
	}
	pthread_mutex_unlock(&qps->mutex);
}

void soft_event_distribute(void)
{
	struct soft_events_image *ring = &soft_process.arena.image->events;
	uint32_t head = atomic_load(&ring->head);

	/* A peer may have written nonsense: there are never more events than the ring holds. */
	if (atomic_load(&ring->tail) - head > SOFT_EVENTS)
		head = atomic_load(&ring->tail) - SOFT_EVENTS;
	for (uint32_t i = 0; i < SOFT_EVENTS && head != atomic_load(&ring->tail); i++) {
		struct soft_event_image image = ring->event[head % SOFT_EVENTS];

		atomic_store(&ring->head, ++head);
		give(&image);
		fail_users(&image);
	}
}

/* Does not block: another thread may have consumed the wakeup. */
void soft_event_unring(int fd, uint32_t count)
{
	uint64_t one;
	const struct iovec room = {.iov_base = &one, .iov_len = sizeof(one)};

	while (count-- && preadv2(fd, &room, 1, -1, RWF_NOWAIT) == sizeof(one))
		;
}

void soft_event_drop(struct soft_events *events, const void *object)
{
	struct soft_event **at = &events->first;
	uint32_t count = 0;

	pthread_mutex_lock(&events->mutex);
	while (*at) {
		struct soft_event *event = *at;

		if (event->verbs.element.qp != object) {
			at = &event->next;
			continue;
		}
		*at = event->next;
		free(event);
		count++;
	}
	events->last = at;
	soft_event_unring(events->fd, count);
	pthread_mutex_unlock(&events->mutex);
}

/* Returns the object's counter of fetched events, or NULL for port and device events. */
static uint32_t *fetched(const struct ibv_async_event *event)
{
	switch ((int)event->event_type) {
	case IBV_EVENT_CQ_ERR:
		return &soft_cq_of(event->element.cq)->fetched_events;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		return &soft_srq_of(event->element.srq)->fetched_events;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		return &soft_qp_of(event->element.qp)->fetched_events;
	default:
		return NULL;
	}
}

static struct soft_event *fetch(struct soft_events *events)
{
	struct soft_event *event;

	pthread_mutex_lock(&events->mutex);
	event = events->first;
	if (event) {
		uint32_t *count = fetched(&event->verbs);

		events->first = event->next;
		if (!events->first)
			events->last = &events->first;
		if (count)
			++*count;
	}
	pthread_mutex_unlock(&events->mutex);
	return event;
}

SOFT_EXPORT int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *verbs)
{
	struct soft_events *events = &soft_device_context(context)->events;
	struct soft_event *event;
	uint64_t one;

	do {
		if (read(events->fd, &one, sizeof(one)) != sizeof(one))
			return -1;
		event = fetch(events);
	} while (!event); /* NULL: the object was destroyed */
	*verbs = event->verbs;
	free(event);
	return 0;
}

static void acknowledge(pthread_mutex_t *mutex, pthread_cond_t *condition, uint32_t *count)
{
	pthread_mutex_lock(mutex);
	++*count;
	pthread_cond_signal(condition);
	pthread_mutex_unlock(mutex);
}

SOFT_EXPORT void ibv_ack_async_event(struct ibv_async_event *event)
{
	struct ibv_cq *cq = event->element.cq;
	struct ibv_srq *srq = event->element.srq;
	struct ibv_qp *qp = event->element.qp;

	switch ((int)event->event_type) {
	case IBV_EVENT_CQ_ERR:
		acknowledge(&cq->mutex, &cq->cond, &cq->async_events_completed);
		break;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		acknowledge(&srq->mutex, &srq->cond, &srq->events_completed);
		break;
	default:
		if (fetched(event))
			acknowledge(&qp->mutex, &qp->cond, &qp->events_completed);
	}
}

void soft_event_await(pthread_mutex_t *mutex, pthread_cond_t *condition,
		      const uint32_t *acknowledged, const uint32_t *fetched_count)
{
	pthread_mutex_lock(mutex);
	while (*acknowledged != *fetched_count)
		pthread_cond_wait(condition, mutex);
	pthread_mutex_unlock(mutex);
}
