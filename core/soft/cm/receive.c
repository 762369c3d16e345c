/* SPDX-License-Identifier: MIT */
/*
 * Handles messages on a connection's socket. A message that is valid in the current state becomes
 * an event; others are ignored. Runs on the service thread, with the mutex held.
 */
#include <stdlib.h>

#include "core/soft/cm/cm.h"

enum {
	TIMEWAIT_MS = 100,
	REQUESTS_MAX = 1024, /* unfetched requests of a listener */
};

static void refuse(struct soft_cm_socket *link, uint32_t space)
{
	struct soft_cm_message message = {
		.kind = SOFT_CM_REJECT,
		.reason = space == RDMA_PS_TCP ? SOFT_CM_REASON_NO_LISTENER
					       : SOFT_CM_STATUS_NO_LISTENER,
	};

	soft_cm_socket_send(link, &message);
	soft_cm_socket_leave(link);
}

static bool has_room(const struct soft_cm_id *listener)
{
	unsigned int count = 0;

	for (const struct soft_cm_id *one = listener->requests; one; one = one->next_request)
		count++;
	return count < REQUESTS_MAX;
}

static void append(struct soft_cm_id *listener, struct soft_cm_id *request)
{
	struct soft_cm_id **at = &listener->requests;

	while (*at)
		at = &(*at)->next_request;
	*at = request;
	request->listener = listener;
}

static void on_request(struct soft_cm_socket *link, const struct soft_cm_message *message)
{
	struct soft_cm_id *listener = soft_cm_listener(message->port);
	struct soft_cm_id *id = NULL;

	link->is_fresh = false;
	if (listener && listener->verbs.ps == message->space && has_room(listener) &&
	    soft_cm_address_is_own(&message->to))
		id = soft_cm_id_new(listener->verbs.channel, listener->verbs.context,
				    listener->verbs.ps, listener->verbs.qp_type);
	if (!id) {
		refuse(link, message->space);
		return;
	}
	id->state = SOFT_CM_REQUESTED;
	id->remote = *message;
	id->from = message->to;
	id->to = message->from;
	id->tos = message->tos;
	/* Defaults until the program accepts with its own values. */
	id->local.responder_resources = message->initiator_depth;
	id->local.initiator_depth = message->responder_resources;
	id->ack_timeout = listener->ack_timeout;
	id->link = link;
	link->id = id;
	soft_cm_id_place(id);
	append(listener, id);
	soft_cm_admit(listener);
}

static void close_with(struct soft_cm_id *id, enum rdma_cm_event_type type, int status)
{
	soft_cm_timer_clear(id);
	id->state = SOFT_CM_CLOSED;
	soft_cm_socket_leave(id->link);
	soft_cm_raise(id, type, status);
}

static void on_reply(struct soft_cm_id *id, const struct soft_cm_message *message)
{
	if (id->state != SOFT_CM_CONNECTING)
		return;
	soft_cm_timer_clear(id);
	id->remote = *message;
	/* The reply limits what this side may use. */
	id->local.responder_resources = message->initiator_depth;
	id->local.initiator_depth = message->responder_resources;
	if (soft_cm_is_ud(id)) {
		id->state = SOFT_CM_CONNECTED;
		soft_cm_socket_leave(id->link);
		soft_cm_raise(id, RDMA_CM_EVENT_ESTABLISHED, 0);
		return;
	}
	id->state = SOFT_CM_ANSWERED;
	soft_cm_raise(id, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
}

/* The request was not announced, so drop it silently. */
static void forget(struct soft_cm_id *id)
{
	struct soft_cm_id **at = &id->listener->requests;

	while (*at != id)
		at = &(*at)->next_request;
	*at = id->next_request;
	soft_cm_id_discard(id);
}

static void on_reject(struct soft_cm_id *id, const struct soft_cm_message *message)
{
	if (id->listener && !id->is_announced) {
		forget(id);
		return;
	}
	if (id->state != SOFT_CM_CONNECTING && id->state != SOFT_CM_REQUESTED &&
	    id->state != SOFT_CM_ACCEPTED && id->state != SOFT_CM_ANSWERED)
		return;
	/* The program notices when it accepts, as with the kernel. */
	if (id->state == SOFT_CM_REQUESTED) {
		id->state = SOFT_CM_CLOSED;
		soft_cm_socket_leave(id->link);
		return;
	}
	id->remote = *message;
	close_with(id, soft_cm_is_ud(id) ? RDMA_CM_EVENT_UNREACHABLE : RDMA_CM_EVENT_REJECTED,
		   (int)message->reason);
}

static void on_ready(struct soft_cm_id *id)
{
	if (id->state != SOFT_CM_ACCEPTED)
		return;
	id->state = SOFT_CM_CONNECTED;
	soft_cm_raise(id, RDMA_CM_EVENT_ESTABLISHED, 0);
}

/* If both sides disconnect at once, each treats the other's message as the reply. */
static void on_leave(struct soft_cm_id *id)
{
	if (id->state == SOFT_CM_CONNECTED) {
		id->state = SOFT_CM_LEFT;
		soft_cm_raise(id, RDMA_CM_EVENT_DISCONNECTED, 0);
	} else if (id->state == SOFT_CM_LEAVING) {
		close_with(id, RDMA_CM_EVENT_DISCONNECTED, 0);
		soft_cm_timer_set(id, TIMEWAIT_MS);
	}
}

static void on_left(struct soft_cm_id *id)
{
	if (id->state != SOFT_CM_LEAVING)
		return;
	close_with(id, RDMA_CM_EVENT_DISCONNECTED, 0);
	soft_cm_timer_set(id, TIMEWAIT_MS);
}

void soft_cm_receive(struct soft_cm_socket *link, const struct soft_cm_message *message)
{
	if (link->is_fresh) {
		if (message->kind == SOFT_CM_REQUEST)
			on_request(link, message);
		else
			soft_cm_socket_leave(link);
		return;
	}
	if (!link->id)
		return;
	switch (message->kind) {
	case SOFT_CM_REPLY:
		on_reply(link->id, message);
		break;
	case SOFT_CM_READY:
		on_ready(link->id);
		break;
	case SOFT_CM_REJECT:
		on_reject(link->id, message);
		break;
	case SOFT_CM_LEAVE:
		on_leave(link->id);
		break;
	case SOFT_CM_LEAVE_REPLY:
		on_left(link->id);
		break;
	default:
		break;
	}
}

/* The peer exited, or closed the connection without a message. */
void soft_cm_receive_end(struct soft_cm_id *id)
{
	const struct soft_cm_message rejected = {
		.kind = SOFT_CM_REJECT,
		.reason = soft_cm_is_ud(id) ? SOFT_CM_STATUS_REJECTED : SOFT_CM_REASON_CONSUMER,
	};

	if (id->state == SOFT_CM_CONNECTED)
		on_leave(id);
	else if (id->state == SOFT_CM_LEAVING)
		on_left(id);
	else
		on_reject(id, &rejected);
}
