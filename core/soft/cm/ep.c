/* SPDX-License-Identifier: MIT */
/*
 * Endpoints: creates an identifier with its address and queue pair in one call.
 */
#include <errno.h>
#include <rdma/rdma_verbs.h>
#include <stdlib.h>

#include "core/soft/cm/cm.h"
#include "core/soft/export.h"

enum {
	PATIENCE_MS = 2000,
};

static int make_passive(struct rdma_cm_id *id, struct rdma_addrinfo *info, struct ibv_pd *pd,
			struct ibv_qp_init_attr *init)
{
	if (rdma_bind_addr(id, info->ai_src_addr))
		return -1;
	if (pd)
		id->pd = pd;
	if (!init)
		return 0;
	/* Each request gets a queue pair with these attributes. */
	soft_cm_id_of(id)->qp_init = malloc(sizeof(*init));
	if (!soft_cm_id_of(id)->qp_init)
		return soft_cm_return(ENOMEM);
	init->qp_type = info->ai_qp_type;
	*soft_cm_id_of(id)->qp_init = *init;
	return 0;
}

static int make_active(struct rdma_cm_id *id, struct rdma_addrinfo *info, struct ibv_pd *pd,
		       struct ibv_qp_init_attr *init)
{
	if (rdma_resolve_addr(id, info->ai_src_addr, info->ai_dst_addr, PATIENCE_MS) ||
	    rdma_resolve_route(id, PATIENCE_MS))
		return -1;
	if (!init)
		return 0;
	init->qp_type = info->ai_qp_type;
	return rdma_create_qp(id, pd, init);
}

SOFT_EXPORT int rdma_create_ep(struct rdma_cm_id **made, struct rdma_addrinfo *info,
			       struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	struct rdma_cm_id *id;
	int result;

	if (rdma_create_id(NULL, &id, NULL, info->ai_port_space))
		return -1;
	id->qp_type = info->ai_qp_type;
	result = info->ai_flags & RAI_PASSIVE ? make_passive(id, info, pd, init)
					      : make_active(id, info, pd, init);
	if (result) {
		int error = errno;

		rdma_destroy_ep(id);
		return soft_cm_return(error);
	}
	*made = id;
	return 0;
}

SOFT_EXPORT void rdma_destroy_ep(struct rdma_cm_id *id)
{
	if (id->qp)
		rdma_destroy_qp(id);
	if (id->srq)
		rdma_destroy_srq(id);
	rdma_destroy_id(id);
}

/* Returns 0, or -1 with errno set if the event is not a valid request. */
static int take_request(struct soft_cm_id *listener, struct rdma_cm_event *event)
{
	struct ibv_qp_init_attr init;

	if (event->event == RDMA_CM_EVENT_REJECTED)
		return soft_cm_return(ECONNREFUSED);
	if (event->status)
		return soft_cm_return(event->status);
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return soft_cm_return(EINVAL);
	if (!listener->qp_init)
		return 0;
	init = *listener->qp_init;
	return rdma_create_qp(event->id, listener->verbs.pd, &init);
}

SOFT_EXPORT int rdma_get_request(struct rdma_cm_id *verbs, struct rdma_cm_id **id)
{
	struct soft_cm_id *listener = soft_cm_id_of(verbs);
	struct rdma_cm_event *event;

	if (!listener->is_sync)
		return soft_cm_return(EINVAL);
	if (verbs->event)
		rdma_ack_cm_event(verbs->event);
	verbs->event = NULL;
	if (rdma_get_cm_event(verbs->channel, &event))
		return -1;
	if (take_request(listener, event)) {
		verbs->event = event;
		return -1;
	}
	*id = event->id;
	(*id)->event = event;
	return 0;
}
