/* SPDX-License-Identifier: MIT */
#include "core/soft/op/channel.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/base/cacheline.h"
#include "core/soft/export.h"
#include "core/soft/op/cq.h"
#include "core/soft/op/event.h"
#include "core/soft/peer/process.h"

static struct soft_peer_channel *own_entry(uint32_t number)
{
	return &soft_process.own_channels[number];
}

static void set_own(uint32_t number, int fd, uint32_t generation)
{
	pthread_mutex_lock(&soft_process.self.mutex);
	soft_peer_set_channel(own_entry(number), fd, generation);
	pthread_mutex_unlock(&soft_process.self.mutex);
}

static void part_own(uint32_t number)
{
	pthread_mutex_lock(&soft_process.self.mutex);
	soft_peer_part_channel(own_entry(number));
	pthread_mutex_unlock(&soft_process.self.mutex);
}

SOFT_EXPORT struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct soft_channel *channel = cacheline_calloc(1, sizeof(*channel));
	int result = ENOMEM;

	if (!channel)
		goto fail;
	channel->verbs.context = context;
	channel->verbs.fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	if (channel->verbs.fd < 0) {
		result = errno;
		goto free;
	}
	pthread_mutex_init(&channel->mutex, NULL);
	channel->generation = atomic_fetch_add(&soft_process.next_channel_generation, 1) + 1;
	channel->number = soft_table_take(&soft_process.channels);
	if (!channel->number)
		goto close;
	set_own(channel->number, channel->verbs.fd, channel->generation);
	soft_table_show(&soft_process.channels, channel->number, channel);
	soft_door_announce(&soft_process.door, channel->number, channel->generation,
			   channel->verbs.fd);
	return &channel->verbs;
close:
	close(channel->verbs.fd);
	pthread_mutex_destroy(&channel->mutex);
free:
	free(channel);
fail:
	errno = result;
	return NULL;
}

SOFT_EXPORT int ibv_destroy_comp_channel(struct ibv_comp_channel *verbs)
{
	struct soft_channel *channel = soft_channel_of(verbs);

	if (channel->cqs)
		return EBUSY;
	soft_table_hide(&soft_process.channels, channel->number);
	soft_door_announce(&soft_process.door, channel->number, channel->generation, -1);
	part_own(channel->number);
	soft_table_remove(&soft_process.channels, channel->number);
	pthread_mutex_destroy(&channel->mutex);
	free(channel);
	return 0;
}

void soft_channel_add(struct soft_channel *channel, struct soft_cq *cq)
{
	pthread_mutex_lock(&channel->mutex);
	cq->next = channel->cqs;
	channel->cqs = cq;
	channel->verbs.refcnt++;
	pthread_mutex_unlock(&channel->mutex);
}

void soft_channel_remove(struct soft_channel *channel, struct soft_cq *cq)
{
	struct soft_cq **at = &channel->cqs;
	int32_t left;

	pthread_mutex_lock(&channel->mutex);
	while (*at != cq)
		at = &(*at)->next;
	*at = cq->next;
	channel->verbs.refcnt--;
	/*
	 * Unfetched events go with the queue: consume their wakeups, so that no reader wakes for
	 * them.
	 */
	left = (int32_t)(soft_image_read(&cq->image->rung) - cq->fetched);
	if (left > 0)
		soft_event_unring(channel->verbs.fd, (uint32_t)left);
	pthread_mutex_unlock(&channel->mutex);
}

/* Moves the queue to the end, after those in front of it, so that no queue starves. */
static void rotate(struct soft_channel *channel, struct soft_cq *taken)
{
	struct soft_cq **at = &taken->next;
	struct soft_cq *first = channel->cqs;

	if (!taken->next)
		return;
	while (*at)
		at = &(*at)->next;
	channel->cqs = taken->next;
	taken->next = NULL;
	*at = first;
}

/* Returns a queue with an unfetched event, or NULL. */
static struct soft_cq *soft_op_channel_take(struct soft_channel *channel)
{
	struct soft_cq *cq;

	pthread_mutex_lock(&channel->mutex);
	for (cq = channel->cqs; cq; cq = cq->next)
		if (atomic_load(&cq->image->raised) != cq->fetched)
			break;
	if (cq) {
		cq->fetched++;
		rotate(channel, cq);
	}
	pthread_mutex_unlock(&channel->mutex);
	return cq;
}

SOFT_EXPORT int ibv_get_cq_event(struct ibv_comp_channel *verbs, struct ibv_cq **cq, void **context)
{
	struct soft_cq *taken;
	uint64_t one;

	do {
		if (read(verbs->fd, &one, sizeof(one)) != sizeof(one))
			return -1;
		taken = soft_op_channel_take(soft_channel_of(verbs));
	} while (!taken); /* NULL: the queue was destroyed */
	*cq = soft_cq_verbs(taken);
	*context = (*cq)->cq_context;
	return 0;
}

SOFT_EXPORT void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int count)
{
	if (!count)
		return;
	pthread_mutex_lock(&cq->mutex);
	cq->comp_events_completed += count;
	pthread_cond_signal(&cq->cond);
	pthread_mutex_unlock(&cq->mutex);
}
