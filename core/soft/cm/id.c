/* SPDX-License-Identifier: MIT */
/*
 * Creates, binds, migrates and destroys rdma_cm identifiers.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "core/soft/cm/cm.h"
#include "core/soft/cm/port.h"
#include "core/soft/export.h"
#include "core/soft/fault/fault.h"
#include "core/soft/peer/process.h"
#include "core/soft/port.h"

enum {
	ACK_TIMEOUT_MAX = 31,
	PSN_MASK = 0xffffff,
};

struct soft_cm_id *soft_cm_id_new(struct rdma_event_channel *channel, void *context,
				  enum rdma_port_space space, enum ibv_qp_type type)
{
	struct soft_cm_id *id = calloc(1, sizeof(*id));

	if (!id)
		return NULL;
	id->verbs.channel = channel;
	id->verbs.context = context;
	id->verbs.ps = space;
	id->verbs.qp_type = type;
	/* Any number works; it only has to be hard to guess. */
	if (getrandom(&id->psn, sizeof(id->psn), GRND_NONBLOCK) < 0)
		id->psn = (uint32_t)(uintptr_t)id;
	id->psn &= PSN_MASK;
	soft_process_count(SOFT_KIND_CM_ID, 1);
	soft_fault_id_made(id);
	return id;
}

static int create(struct rdma_event_channel *channel, struct rdma_cm_id **verbs, void *context,
		  enum rdma_port_space space)
{
	bool is_ud = space == RDMA_PS_UDP || space == RDMA_PS_IPOIB;
	struct soft_cm_id *id;

	if (space != RDMA_PS_TCP && space != RDMA_PS_IB && !is_ud)
		return soft_cm_return(EPROTONOSUPPORT);
	id = soft_cm_id_new(channel, context, space, is_ud ? IBV_QPT_UD : IBV_QPT_RC);
	if (!id)
		return soft_cm_return(ENOMEM);
	*verbs = &id->verbs;
	return 0;
}

SOFT_EXPORT int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **verbs,
			       void *context, enum rdma_port_space space)
{
	struct rdma_event_channel *own = channel ? NULL : rdma_create_event_channel();

	if (!channel && !own)
		return -1;
	if (create(channel ? channel : own, verbs, context, space)) {
		int error = errno;

		if (own)
			rdma_destroy_event_channel(own);
		return soft_cm_return(error);
	}
	soft_cm_id_of(*verbs)->is_sync = own != NULL;
	return 0;
}

/* Sends a reject if the request is unanswered; otherwise the peer just sees end of file. */
static void leave(struct soft_cm_id *id)
{
	bool is_active = id->state == SOFT_CM_CONNECTING;
	struct soft_cm_message message = {
		.kind = SOFT_CM_REJECT,
		.reason = is_active           ? SOFT_CM_REASON_TIMEOUT
			  : soft_cm_is_ud(id) ? SOFT_CM_STATUS_REJECTED
					      : SOFT_CM_REASON_CONSUMER,
	};

	if (is_active || id->state == SOFT_CM_REQUESTED || id->state == SOFT_CM_ACCEPTED)
		soft_cm_socket_send(id->link, &message);
	soft_cm_socket_leave(id->link);
}

void soft_cm_id_discard(struct soft_cm_id *id)
{
	leave(id);
	soft_cm_timer_clear(id);
	soft_cm_drop_events(id);
	soft_process_count(SOFT_KIND_CM_ID, -1);
	soft_fault_id_gone(id);
	free(id);
}

SOFT_EXPORT int rdma_destroy_id(struct rdma_cm_id *verbs)
{
	struct soft_cm_id *id = soft_cm_id_of(verbs);

	if (verbs->event)
		rdma_ack_cm_event(verbs->event);
	verbs->event = NULL;
	pthread_mutex_lock(&soft_cm_mutex);
	soft_cm_listener_forget(id);
	soft_fault_id_gone(id);
	leave(id);
	soft_cm_timer_clear(id);
	soft_cm_drop_events(id);
	while (id->requests) {
		struct soft_cm_id *request = id->requests;

		id->requests = request->next_request;
		soft_cm_id_discard(request);
	}
	soft_cm_await(id);
	soft_cm_multicast_forget(id);
	pthread_mutex_unlock(&soft_cm_mutex);
	soft_cm_port_release(id->port);
	if (id->is_sync)
		rdma_destroy_event_channel(verbs->channel);
	free(id->qp_init);
	soft_process_count(SOFT_KIND_CM_ID, -1);
	free(id);
	return 0;
}

void soft_cm_id_place(struct soft_cm_id *id)
{
	struct rdma_addr *addr = &id->verbs.route.addr;

	soft_cm_address_give(&id->from, &addr->src_storage);
	soft_cm_address_give(&id->to, &addr->dst_storage);
	if (soft_cm_address_is_any(&id->from))
		return;
	id->verbs.verbs = soft_cm_context();
	if (!id->verbs.pd)
		id->verbs.pd = soft_cm_pd();
	id->verbs.port_num = SOFT_PORT;
	addr->addr.ibaddr.sgid = id->from.gid;
	addr->addr.ibaddr.dgid = id->to.gid;
	addr->addr.ibaddr.pkey = htons(0xffff);
}

SOFT_EXPORT int rdma_bind_addr(struct rdma_cm_id *verbs, struct sockaddr *address)
{
	struct soft_cm_id *id = soft_cm_id_of(verbs);
	struct soft_cm_claim claim = {
		.space = verbs->ps,
		.is_sharing = id->is_sharing,
		.is_v6_only = id->is_v6_only,
	};
	int result;

	if (id->state != SOFT_CM_IDLE)
		return soft_cm_return(EINVAL);
	result = soft_cm_address_take(&claim.address, address);
	if (!result && !soft_cm_address_is_any(&claim.address) &&
	    !soft_cm_address_is_own(&claim.address))
		result = EADDRNOTAVAIL;
	if (!result)
		result = soft_cm_port_take(&claim, &id->port);
	if (result)
		return soft_cm_return(result);
	id->from = claim.address;
	id->state = SOFT_CM_BOUND;
	soft_cm_id_place(id);
	return 0;
}

SOFT_EXPORT int rdma_migrate_id(struct rdma_cm_id *verbs, struct rdma_event_channel *channel)
{
	struct soft_cm_id *id = soft_cm_id_of(verbs);
	struct rdma_event_channel *before = verbs->channel;
	bool was_sync = id->is_sync;

	if (was_sync && !channel)
		return soft_cm_return(EINVAL);
	id->is_sync = !channel;
	if (!channel)
		channel = rdma_create_event_channel();
	if (!channel) {
		id->is_sync = was_sync;
		return -1;
	}
	if (was_sync && verbs->event) {
		rdma_ack_cm_event(verbs->event);
		verbs->event = NULL;
	}
	pthread_mutex_lock(&soft_cm_mutex);
	soft_cm_move_events(id, channel);
	for (struct soft_cm_id *one = id->requests; one; one = one->next_request) {
		soft_cm_move_events(one, channel);
		one->verbs.channel = channel;
	}
	verbs->channel = channel;
	soft_cm_await(id);
	pthread_mutex_unlock(&soft_cm_mutex);
	if (was_sync)
		rdma_destroy_event_channel(before);
	return 0;
}

/* Reads an option of one byte or one int. Returns -1 if its length is wrong. */
static int read_value(const void *value, size_t length, size_t wanted)
{
	int number = 0;

	if (length != wanted)
		return -1;
	if (wanted == 1)
		return *(const uint8_t *)value;
	memcpy(&number, value, sizeof(number));
	return number != 0;
}

SOFT_EXPORT int rdma_set_option(struct rdma_cm_id *verbs, int level, int option, void *value,
				size_t length)
{
	struct soft_cm_id *id = soft_cm_id_of(verbs);
	bool is_byte = option == RDMA_OPTION_ID_TOS || option == RDMA_OPTION_ID_ACK_TIMEOUT;
	bool is_unbound = id->state == SOFT_CM_IDLE;
	int given;

	if (level != RDMA_OPTION_ID || option < RDMA_OPTION_ID_TOS ||
	    option > RDMA_OPTION_ID_ACK_TIMEOUT)
		return soft_cm_return(ENOSYS);
	given = read_value(value, length, is_byte ? sizeof(uint8_t) : sizeof(int));
	if (given < 0 || (option == RDMA_OPTION_ID_ACK_TIMEOUT &&
			  (given > ACK_TIMEOUT_MAX || soft_cm_is_ud(id))))
		return soft_cm_return(EINVAL);
	if (!is_byte && !is_unbound)
		return soft_cm_return(EINVAL);
	if (option == RDMA_OPTION_ID_TOS)
		id->tos = (uint8_t)given;
	else if (option == RDMA_OPTION_ID_ACK_TIMEOUT)
		id->ack_timeout = (uint8_t)given;
	else if (option == RDMA_OPTION_ID_REUSEADDR)
		id->is_sharing = given;
	else
		id->is_v6_only = given;
	return 0;
}

SOFT_EXPORT __be16 rdma_get_src_port(struct rdma_cm_id *id)
{
	return htons(soft_cm_id_of(id)->from.port);
}

SOFT_EXPORT __be16 rdma_get_dst_port(struct rdma_cm_id *id)
{
	return htons(soft_cm_id_of(id)->to.port);
}
