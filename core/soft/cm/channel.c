/* SPDX-License-Identifier: MIT */
/*
 * Event channels. The descriptor is readable while an event is queued. The thread that fetches an
 * event performs the queue pair transitions that belong to it, as in librdmacm.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/soft/cm/cm.h"
#include "core/soft/export.h"
#include "core/soft/fault/fault.h"
#include "core/soft/op/multicast.h"

/* Number of destroyed channels kept allocated. */
enum {
	LATE = 16,
};

static pthread_cond_t acknowledgement = PTHREAD_COND_INITIALIZER;

SOFT_EXPORT struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct soft_cm_channel *channel;
	int result = soft_cm_enter();

	if (result) {
		errno = -result;
		return NULL;
	}
	channel = calloc(1, sizeof(*channel));
	if (!channel)
		return NULL;
	channel->verbs.fd = eventfd(0, EFD_CLOEXEC);
	if (channel->verbs.fd < 0) {
		free(channel);
		return NULL;
	}
	channel->last = &channel->first;
	return &channel->verbs;
}

SOFT_EXPORT void rdma_destroy_event_channel(struct rdma_event_channel *verbs)
{
	static struct soft_cm_channel *last[LATE];
	static unsigned int next;
	struct soft_cm_channel *channel = soft_cm_channel_of(verbs);

	soft_fault_channel_gone(verbs);
	pthread_mutex_lock(&soft_cm_mutex);
	while (channel->first) {
		struct soft_cm_event *event = channel->first;

		channel->first = event->next;
		free(event);
	}
	close(verbs->fd);
	channel->is_gone = true;
	/*
	 * A thread of the program may be about to wait on the channel, as in rping at its end, so
	 * keep its memory for a while.
	 */
	free(last[next]);
	last[next] = channel;
	next = (next + 1) % LATE;
	pthread_mutex_unlock(&soft_cm_mutex);
}

static void append(struct soft_cm_channel *channel, struct soft_cm_event *event)
{
	uint64_t one = 1;

	event->next = NULL;
	if (!channel->first && write(channel->verbs.fd, &one, sizeof(one)) < 0)
		errno = 0; /* already readable */
	*channel->last = event;
	channel->last = &event->next;
}

/* Removes the event at this position. */
static struct soft_cm_event *soft_cm_channel_take(struct soft_cm_channel *channel,
						  struct soft_cm_event **at)
{
	struct soft_cm_event *event = *at;
	uint64_t count;

	*at = event->next;
	if (!*at)
		channel->last = at;
	/* The descriptor is readable, so this does not block. */
	if (!channel->first && read(channel->verbs.fd, &count, sizeof(count)) < 0)
		errno = 0;
	return event;
}

/* Returns the size of the private data that an event reports, which is the maximum for its type. */
static uint8_t data_size(const struct soft_cm_id *id, enum rdma_cm_event_type type)
{
	bool is_ud = soft_cm_is_ud(id);

	switch ((int)type) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return is_ud ? SOFT_CM_CONNECT_DATA_UD : SOFT_CM_CONNECT_DATA;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		return SOFT_CM_ACCEPT_DATA;
	case RDMA_CM_EVENT_ESTABLISHED:
		return is_ud ? SOFT_CM_ACCEPT_DATA_UD : 0;
	case RDMA_CM_EVENT_REJECTED:
		return SOFT_CM_REJECT_DATA;
	case RDMA_CM_EVENT_UNREACHABLE:
		return is_ud && id->remote.kind == SOFT_CM_REJECT ? SOFT_CM_ACCEPT_DATA_UD : 0;
	default:
		return 0;
	}
}

static void describe_group(struct soft_cm_event *event, const struct soft_cm_id *id)
{
	struct rdma_ud_param *param = &event->verbs.param.ud;

	param->private_data = event->group->context;
	param->qp_num = SOFT_MULTICAST_QPN;
	param->qkey = RDMA_UDP_QKEY;
	soft_cm_fill_address(id, &event->group->address, &param->ah_attr);
}

static void describe(struct soft_cm_event *event, const struct soft_cm_id *id)
{
	const struct soft_cm_message *said = &id->remote;
	uint8_t size = data_size(id, event->verbs.event);

	memcpy(event->data, said->data, said->data_length < size ? said->data_length : size);
	if (soft_cm_is_ud(id)) {
		event->verbs.param.ud.private_data = size ? event->data : NULL;
		event->verbs.param.ud.private_data_len = size;
		event->verbs.param.ud.qp_num = said->qp_num;
		event->verbs.param.ud.qkey = said->qkey;
		if (event->verbs.event == RDMA_CM_EVENT_ESTABLISHED)
			soft_cm_fill_address(id, &id->to, &event->verbs.param.ud.ah_attr);
		return;
	}
	event->verbs.param.conn.private_data = size ? event->data : NULL;
	event->verbs.param.conn.private_data_len = size;
	if (event->verbs.event != RDMA_CM_EVENT_CONNECT_REQUEST &&
	    event->verbs.event != RDMA_CM_EVENT_CONNECT_RESPONSE)
		return;
	/* One side's initiator depth is the other side's responder resources. */
	event->verbs.param.conn.responder_resources = said->initiator_depth;
	event->verbs.param.conn.initiator_depth = said->responder_resources;
	event->verbs.param.conn.flow_control = said->flow_control;
	event->verbs.param.conn.retry_count = said->retry_count;
	event->verbs.param.conn.rnr_retry_count = said->rnr_retry_count;
	event->verbs.param.conn.srq = said->srq;
	event->verbs.param.conn.qp_num = said->qp_num;
}

void soft_cm_deliver(struct soft_cm_event *event)
{
	struct rdma_event_channel *channel = event->owner->verbs.channel;

	/* If a fault made rdma_destroy_id fail, the channel may already be gone. */
	if (channel)
		append(soft_cm_channel_of(channel), event);
	else
		free(event);
}

static void put(struct soft_cm_id *owner, struct soft_cm_id *id, enum rdma_cm_event_type type,
		int status, const struct soft_cm_group *group)
{
	struct soft_cm_event *event = calloc(1, sizeof(*event));

	if (!event)
		return;
	event->owner = owner;
	event->verbs.id = &id->verbs;
	event->verbs.listen_id = owner == id ? NULL : &owner->verbs;
	event->verbs.event = type;
	event->verbs.status = status;
	event->group = group;
	if (group)
		describe_group(event, id);
	else
		describe(event, id);
	if (unlikely(soft_fault_is_planned) && soft_fault_event(event))
		return;
	soft_cm_deliver(event);
}

void soft_cm_raise(struct soft_cm_id *id, enum rdma_cm_event_type type, int status)
{
	put(id, id, type, status, NULL);
}

void soft_cm_raise_joined(struct soft_cm_id *id, const struct soft_cm_group *group)
{
	put(id, id, RDMA_CM_EVENT_MULTICAST_JOIN, 0, group);
}

void soft_cm_announce(struct soft_cm_id *request)
{
	put(request->listener, request, RDMA_CM_EVENT_CONNECT_REQUEST, 0, NULL);
}

/* Moves an owner's events to another channel, or frees them (NULL). */
static void take_events(const struct soft_cm_id *owner, struct rdma_event_channel *to)
{
	struct soft_cm_channel *channel = soft_cm_channel_of(owner->verbs.channel);
	struct soft_cm_event **at = &channel->first;

	while (*at) {
		if ((*at)->owner != owner)
			at = &(*at)->next;
		else if (to)
			append(soft_cm_channel_of(to), soft_cm_channel_take(channel, at));
		else
			free(soft_cm_channel_take(channel, at));
	}
}

void soft_cm_drop_events(struct soft_cm_id *id)
{
	soft_fault_drop_events(id);
	/* After a fault, an identifier may outlive its channel, which freed its events. */
	if (id->verbs.channel)
		take_events(id, NULL);
}

void soft_cm_drop_joined(struct soft_cm_id *id, const struct soft_cm_group *group)
{
	struct soft_cm_channel *channel;
	struct soft_cm_event **at;

	/* After a fault, an identifier may outlive its channel. */
	if (!id->verbs.channel)
		return;
	channel = soft_cm_channel_of(id->verbs.channel);
	at = &channel->first;
	while (*at) {
		if ((*at)->group == group)
			free(soft_cm_channel_take(channel, at));
		else
			at = &(*at)->next;
	}
}

void soft_cm_move_events(struct soft_cm_id *id, struct rdma_event_channel *to)
{
	if (id->verbs.channel && id->verbs.channel != to)
		take_events(id, to);
}

void soft_cm_await(struct soft_cm_id *id)
{
	while (id->acknowledged != id->fetched)
		pthread_cond_wait(&acknowledgement, &soft_cm_mutex);
}

/* Hands the request over to the program. */
static void release_request(struct soft_cm_id *request)
{
	struct soft_cm_id *listener = request->listener;
	struct soft_cm_id **at = &listener->requests;

	while (*at != request)
		at = &(*at)->next_request;
	*at = request->next_request;
	request->listener = NULL;
	listener->room++;
	soft_cm_admit(listener);
}

static struct soft_cm_event *fetch(struct soft_cm_channel *channel)
{
	struct soft_cm_event *event = NULL;

	pthread_mutex_lock(&soft_cm_mutex);
	if (channel->first) {
		event = soft_cm_channel_take(channel, &channel->first);
		event->owner->fetched++;
		if (event->verbs.listen_id)
			release_request(soft_cm_id_of(event->verbs.id));
	}
	pthread_mutex_unlock(&soft_cm_mutex);
	return event;
}

static bool is_gone(const struct soft_cm_channel *channel)
{
	bool found;

	pthread_mutex_lock(&soft_cm_mutex);
	found = channel->is_gone;
	pthread_mutex_unlock(&soft_cm_mutex);
	return found;
}

/*
 * The peer has accepted. With a queue pair, this completes the connection; without one, the program
 * does.
 */
static void finish_connect(struct soft_cm_event *event)
{
	struct soft_cm_id *id = soft_cm_id_of(event->verbs.id);

	if (!id->verbs.qp)
		return;
	event->verbs.event = RDMA_CM_EVENT_ESTABLISHED;
	if (soft_cm_qp_connect(id) || rdma_establish(&id->verbs)) {
		event->verbs.event = RDMA_CM_EVENT_CONNECT_ERROR;
		event->verbs.status = -errno;
		soft_cm_qp_fail(id);
		rdma_reject(&id->verbs, NULL, 0);
	}
}

static void finish_join(struct soft_cm_event *event)
{
	int result = soft_cm_multicast_attach(soft_cm_id_of(event->verbs.id), event->group);

	if (!result)
		return;
	event->verbs.event = RDMA_CM_EVENT_MULTICAST_ERROR;
	event->verbs.status = -result;
}

static void finish(struct soft_cm_event *event)
{
	struct soft_cm_id *id = soft_cm_id_of(event->verbs.id);

	switch ((int)event->verbs.event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		if (event->owner->is_sync && rdma_migrate_id(&id->verbs, NULL))
			event->verbs.status = -errno;
		break;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		finish_connect(event);
		break;
	case RDMA_CM_EVENT_REJECTED:
		soft_cm_qp_fail(id);
		break;
	case RDMA_CM_EVENT_MULTICAST_JOIN:
		finish_join(event);
		break;
	default:
		break;
	}
}

SOFT_EXPORT int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	struct pollfd readable = {.events = POLLIN};
	struct soft_cm_event *fetched;

	if (!channel || !event)
		return soft_cm_return(EINVAL);
	readable.fd = channel->fd;
	while (!(fetched = fetch(soft_cm_channel_of(channel)))) {
		int flags;

		/*
		 * librdmacm would block here too: a thread that waits on a destroyed channel never
		 * returns.
		 */
		while (is_gone(soft_cm_channel_of(channel)))
			pause();
		flags = fcntl(readable.fd, F_GETFL);
		if (flags < 0 && !is_gone(soft_cm_channel_of(channel)))
			return -1;
		if (flags < 0)
			continue;
		if (flags & O_NONBLOCK)
			return soft_cm_return(EAGAIN);
		if (poll(&readable, 1, -1) < 0)
			return -1;
	}
	finish(fetched);
	*event = &fetched->verbs;
	return 0;
}

SOFT_EXPORT int rdma_ack_cm_event(struct rdma_cm_event *verbs)
{
	struct soft_cm_event *event;

	if (!verbs)
		return soft_cm_return(EINVAL);
	event = CONTAINER_OF(verbs, struct soft_cm_event, verbs);
	pthread_mutex_lock(&soft_cm_mutex);
	event->owner->acknowledged++;
	pthread_cond_broadcast(&acknowledgement);
	pthread_mutex_unlock(&soft_cm_mutex);
	free(event);
	return 0;
}

int soft_cm_complete(struct soft_cm_id *id)
{
	struct rdma_cm_event *event = NULL;

	if (!id->is_sync)
		return 0;
	if (id->verbs.event)
		rdma_ack_cm_event(id->verbs.event);
	id->verbs.event = NULL;
	if (rdma_get_cm_event(id->verbs.channel, &event))
		return -1;
	id->verbs.event = event;
	if (!event || !event->status)
		return 0;
	return soft_cm_return(event->event == RDMA_CM_EVENT_REJECTED ? ECONNREFUSED
								     : event->status);
}
