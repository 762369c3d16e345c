/* SPDX-License-Identifier: MIT */
/*
 * Connecting, accepting, rejecting and disconnecting.
 */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/soft/cm/cm.h"
#include "core/soft/cm/port.h"
#include "core/soft/device.h"
#include "core/soft/export.h"
#include "core/soft/peer/message.h"
#include "core/soft/peer/peer.h"

enum {
	PATIENCE_MS = 68000, /* 16 times the 4.3 s that the kernel waits for an answer */
	TIMEWAIT_MS = 100,
	RETRIES = 7,
	LOOKS = 40, /* for a listener, 5 ms apart */
};

static uint8_t lesser(uint8_t one, uint8_t other)
{
	return one < other ? one : other;
}

/* Returns 0 or a positive errno. */
static int soft_cm_connect_check(const struct soft_cm_id *id, const struct rdma_conn_param *param,
				 size_t room)
{
	if (!param)
		return id->verbs.qp ? 0 : EINVAL;
	if (param->private_data_len > room || (param->private_data_len && !param->private_data))
		return EINVAL;
	if (soft_cm_is_ud(id))
		return 0;
	if (param->responder_resources != RDMA_MAX_RESP_RES &&
	    param->responder_resources > SOFT_RD_ATOMIC_MAX)
		return EINVAL;
	return param->initiator_depth != RDMA_MAX_INIT_DEPTH &&
			       param->initiator_depth > SOFT_RD_ATOMIC_MAX
		       ? EINVAL
		       : 0;
}

static void fill(struct soft_cm_message *message, const struct soft_cm_id *id,
		 const struct rdma_conn_param *param)
{
	const struct ibv_qp *qp = id->verbs.qp;

	message->space = id->verbs.ps;
	message->qp_num = qp ? qp->qp_num : param->qp_num;
	message->srq = qp ? qp->srq != NULL : param->srq;
	message->qkey = RDMA_UDP_QKEY;
	message->tos = id->tos;
	message->from = id->from;
	message->to = id->to;
	message->retry_count = message->rnr_retry_count = RETRIES;
	message->psn = id->psn;
	if (!qp) {
		message->ece_vendor_id = id->local_ece.vendor_id;
		message->ece_options = id->local_ece.options;
	}
	if (!param)
		return;
	message->flow_control = param->flow_control;
	message->retry_count = lesser(param->retry_count, RETRIES);
	message->rnr_retry_count = lesser(param->rnr_retry_count, RETRIES);
	message->data_length = param->private_data_len;
	if (param->private_data_len)
		memcpy(message->data, param->private_data, param->private_data_len);
}

/*
 * Looks for a listener for up to 200 ms. Some programs close a listener and open the next one while
 * the client already connects (perftest's -R); on a network, latency hides that.
 */
static int find_listener(struct soft_cm_id *id, uint32_t *slot)
{
	static const struct timespec nap = {.tv_nsec = 5000000};
	int result = -ECONNREFUSED;

	for (int i = 0; i < LOOKS && result; i++) {
		if (i)
			nanosleep(&nap, NULL);
		result = soft_cm_port_find(&id->to, id->verbs.ps, slot, &id->local.port);
	}
	return result;
}

/* Raises the event for a missing listener, which is the same as for a rejection by the peer. */
static int refuse(struct soft_cm_id *id)
{
	pthread_mutex_lock(&soft_cm_mutex);
	id->state = SOFT_CM_CLOSED;
	if (soft_cm_is_ud(id))
		soft_cm_raise(id, RDMA_CM_EVENT_UNREACHABLE, SOFT_CM_STATUS_NO_LISTENER);
	else
		soft_cm_raise(id, RDMA_CM_EVENT_REJECTED, SOFT_CM_REASON_NO_LISTENER);
	pthread_mutex_unlock(&soft_cm_mutex);
	return soft_cm_complete(id);
}

static int request(struct soft_cm_id *id, int fd)
{
	int result;

	pthread_mutex_lock(&soft_cm_mutex);
	result = soft_cm_socket_join(id, fd);
	if (result)
		close(fd);
	if (!result)
		result = soft_cm_socket_send(id->link, &id->local);
	if (result) {
		soft_cm_socket_leave(id->link);
	} else {
		id->state = SOFT_CM_CONNECTING;
		soft_cm_timer_set(id, PATIENCE_MS);
	}
	pthread_mutex_unlock(&soft_cm_mutex);
	return result ? soft_cm_return(result) : soft_cm_complete(id);
}

SOFT_EXPORT int rdma_connect(struct rdma_cm_id *verbs, struct rdma_conn_param *param)
{
	struct soft_cm_id *id = soft_cm_id_of(verbs);
	size_t room = soft_cm_is_ud(id) ? SOFT_CM_CONNECT_DATA_UD : SOFT_CM_CONNECT_DATA;
	int result =
		id->state == SOFT_CM_ROUTE_KNOWN ? soft_cm_connect_check(id, param, room) : EINVAL;
	uint32_t slot;
	int fd;

	if (result)
		return soft_cm_return(result);
	memset(&id->local, 0, sizeof(id->local));
	id->local.kind = SOFT_CM_REQUEST;
	fill(&id->local, id, param);
	id->local.responder_resources =
		lesser(param ? param->responder_resources : UINT8_MAX, SOFT_RD_ATOMIC_MAX);
	id->local.initiator_depth =
		lesser(param ? param->initiator_depth : UINT8_MAX, SOFT_RD_ATOMIC_MAX);
	if (find_listener(id, &slot))
		return refuse(id);
	fd = soft_peer_knock(slot, SOFT_MESSAGE_CONNECTION, NULL);
	/* The listener has exited in the meantime. */
	if (fd == -ECONNREFUSED || fd == -ENOENT)
		return refuse(id);
	return fd < 0 ? soft_cm_return(fd) : request(id, fd);
}

/* Fills in the reply. Defaults are limited to what the peer requested. */
static void fill_reply(struct soft_cm_id *id, const struct rdma_conn_param *param)
{
	uint8_t resources = param ? param->responder_resources : RDMA_MAX_RESP_RES;
	uint8_t depth = param ? param->initiator_depth : RDMA_MAX_INIT_DEPTH;

	memset(&id->local, 0, sizeof(id->local));
	id->local.kind = SOFT_CM_REPLY;
	fill(&id->local, id, param);
	if (resources == RDMA_MAX_RESP_RES)
		resources = lesser(id->remote.initiator_depth, SOFT_RD_ATOMIC_MAX);
	if (depth == RDMA_MAX_INIT_DEPTH)
		depth = lesser(id->remote.responder_resources, SOFT_RD_ATOMIC_MAX);
	id->local.responder_resources = resources;
	id->local.initiator_depth = depth;
}

static int reply(struct soft_cm_id *id)
{
	int result;

	pthread_mutex_lock(&soft_cm_mutex);
	/* The peer may have given up in the meantime. */
	result = id->state == SOFT_CM_REQUESTED ? soft_cm_socket_send(id->link, &id->local)
						: -EINVAL;
	if (!result && soft_cm_is_ud(id)) {
		id->state = SOFT_CM_CONNECTED;
		soft_cm_socket_leave(id->link);
	} else if (!result) {
		id->state = SOFT_CM_ACCEPTED;
	}
	pthread_mutex_unlock(&soft_cm_mutex);
	return soft_cm_return(result);
}

/*
 * Accepting a datagram request on a synchronous identifier acknowledges its event, as in librdmacm.
 */
static int complete_ud(struct soft_cm_id *id)
{
	if (id->is_sync && id->verbs.event) {
		rdma_ack_cm_event(id->verbs.event);
		id->verbs.event = NULL;
	}
	return 0;
}

SOFT_EXPORT int rdma_accept(struct rdma_cm_id *verbs, struct rdma_conn_param *param)
{
	struct soft_cm_id *id = soft_cm_id_of(verbs);
	bool is_ud = soft_cm_is_ud(id);
	int result = EINVAL;

	pthread_mutex_lock(&soft_cm_mutex);
	if (id->state == SOFT_CM_REQUESTED)
		result = soft_cm_connect_check(
			id, param, is_ud ? SOFT_CM_ACCEPT_DATA_UD : SOFT_CM_ACCEPT_DATA);
	pthread_mutex_unlock(&soft_cm_mutex);
	if (result) {
		/* A failed accept rejects the request, as in the kernel. */
		rdma_reject(verbs, NULL, 0);
		return soft_cm_return(result);
	}
	pthread_mutex_lock(&soft_cm_mutex);
	fill_reply(id, param);
	pthread_mutex_unlock(&soft_cm_mutex);
	if (!is_ud && soft_cm_qp_connect(id))
		return -1;
	if (reply(id)) {
		int error = errno;

		soft_cm_qp_fail(id);
		return soft_cm_return(error);
	}
	return is_ud ? complete_ud(id) : soft_cm_complete(id);
}

static int reject(struct rdma_cm_id *verbs, const void *data, uint8_t length, uint32_t reason)
{
	struct soft_cm_id *id = soft_cm_id_of(verbs);
	bool is_ud = soft_cm_is_ud(id);
	struct soft_cm_message message = {
		.kind = SOFT_CM_REJECT,
		.reason = is_ud ? SOFT_CM_STATUS_REJECTED : reason,
		.data_length = length,
	};
	int result;

	if (length > (is_ud ? SOFT_CM_ACCEPT_DATA_UD : SOFT_CM_REJECT_DATA))
		return soft_cm_return(EINVAL);
	if (length)
		memcpy(message.data, data, length);
	pthread_mutex_lock(&soft_cm_mutex);
	result = id->state == SOFT_CM_REQUESTED || id->state == SOFT_CM_ANSWERED
			 ? soft_cm_socket_send(id->link, &message)
			 : -EINVAL;
	if (!result) {
		id->state = SOFT_CM_CLOSED;
		soft_cm_socket_leave(id->link);
	}
	pthread_mutex_unlock(&soft_cm_mutex);
	return soft_cm_return(result);
}

SOFT_EXPORT int rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t length)
{
	return reject(id, data, length, SOFT_CM_REASON_CONSUMER);
}

SOFT_EXPORT int rdma_reject_ece(struct rdma_cm_id *id, const void *data, uint8_t length)
{
	return reject(id, data, length, SOFT_CM_REASON_ECE);
}

SOFT_EXPORT int rdma_establish(struct rdma_cm_id *verbs)
{
	struct soft_cm_id *id = soft_cm_id_of(verbs);
	struct soft_cm_message ready = {.kind = SOFT_CM_READY};
	int result;

	pthread_mutex_lock(&soft_cm_mutex);
	result = id->state == SOFT_CM_ANSWERED ? soft_cm_socket_send(id->link, &ready) : -EINVAL;
	if (!result)
		id->state = SOFT_CM_CONNECTED;
	pthread_mutex_unlock(&soft_cm_mutex);
	return soft_cm_return(result);
}

/* Data arrived before the message that completes the connection. */
SOFT_EXPORT int rdma_notify(struct rdma_cm_id *verbs, enum ibv_event_type event)
{
	struct soft_cm_id *id = soft_cm_id_of(verbs);
	int result = event == IBV_EVENT_COMM_EST ? 0 : EINVAL;

	pthread_mutex_lock(&soft_cm_mutex);
	if (!result && id->state == SOFT_CM_ACCEPTED) {
		id->state = SOFT_CM_CONNECTED;
		soft_cm_raise(id, RDMA_CM_EVENT_ESTABLISHED, 0);
	} else if (id->state != SOFT_CM_CONNECTED) {
		result = EINVAL;
	}
	pthread_mutex_unlock(&soft_cm_mutex);
	return soft_cm_return(result);
}

/* Call with the mutex held. Returns whether an event will follow. */
static bool leave(struct soft_cm_id *id)
{
	struct soft_cm_message message = {.kind = SOFT_CM_LEAVE};

	switch ((int)id->state) {
	case SOFT_CM_CONNECTED:
		if (!soft_cm_socket_send(id->link, &message))
			soft_cm_timer_set(id, PATIENCE_MS);
		id->state = SOFT_CM_LEAVING;
		return true;
	case SOFT_CM_LEFT:
		message.kind = SOFT_CM_LEAVE_REPLY;
		soft_cm_socket_send(id->link, &message);
		soft_cm_socket_leave(id->link);
		id->state = SOFT_CM_CLOSED;
		soft_cm_timer_set(id, TIMEWAIT_MS);
		return true;
	default:
		return false;
	}
}

SOFT_EXPORT int rdma_disconnect(struct rdma_cm_id *verbs)
{
	struct soft_cm_id *id = soft_cm_id_of(verbs);
	bool is_unfit;
	bool is_awaited;

	pthread_mutex_lock(&soft_cm_mutex);
	is_unfit = soft_cm_is_ud(id) || id->state < SOFT_CM_CONNECTING;
	pthread_mutex_unlock(&soft_cm_mutex);
	if (is_unfit)
		return soft_cm_return(EINVAL);
	soft_cm_qp_fail(id);
	pthread_mutex_lock(&soft_cm_mutex);
	is_awaited = leave(id);
	pthread_mutex_unlock(&soft_cm_mutex);
	return is_awaited ? soft_cm_complete(id) : 0;
}

void soft_cm_expire(struct soft_cm_id *id)
{
	switch ((int)id->state) {
	case SOFT_CM_RESOLVING:
		id->state = SOFT_CM_BOUND;
		soft_cm_raise(id, RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT);
		break;
	case SOFT_CM_CONNECTING:
		id->state = SOFT_CM_CLOSED;
		soft_cm_socket_leave(id->link);
		soft_cm_raise(id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
		break;
	case SOFT_CM_LEAVING:
		id->state = SOFT_CM_CLOSED;
		soft_cm_socket_leave(id->link);
		soft_cm_raise(id, RDMA_CM_EVENT_DISCONNECTED, -ETIMEDOUT);
		soft_cm_timer_set(id, TIMEWAIT_MS);
		break;
	case SOFT_CM_CLOSED:
		soft_cm_raise(id, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
		break;
	default:
		break;
	}
}
