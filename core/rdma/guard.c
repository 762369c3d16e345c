/* SPDX-License-Identifier: MIT */
#include "core/rdma/guard.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "core/verbs/verbs.h"

/* Returns a fatal event's description, or NULL if the event is not fatal. */
static const char *fatal_reason(enum ibv_event_type type)
{
	switch ((int)type) {
	case IBV_EVENT_CQ_ERR:
		return "the completion queue overran";
	case IBV_EVENT_SRQ_ERR:
		return "the shared receive queue failed";
	case IBV_EVENT_QP_FATAL:
		return "the queue pair failed";
	case IBV_EVENT_QP_REQ_ERR:
		return "the peer sent a request that the queue pair does not support";
	case IBV_EVENT_QP_ACCESS_ERR:
		return "the peer accessed memory without permission";
	case IBV_EVENT_DEVICE_FATAL:
		return "the RDMA device failed";
	default:
		return NULL;
	}
}

static bool concerns(const struct rdma_state *state, const struct ibv_async_event *event)
{
	switch ((int)event->event_type) {
	case IBV_EVENT_CQ_ERR:
		return event->element.cq == state->endpoint->completion.cq;
	case IBV_EVENT_SRQ_ERR:
		return event->element.srq == state->endpoint->srq;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
		return event->element.qp == state->queue.qp || event->element.qp == state->target;
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_PORT_ACTIVE:
		return event->element.port_num == state->port_num;
	default:
		return true;
	}
}

/* Returns whether the event makes the endpoint unusable for other queue pairs, too. */
static bool breaks_endpoint(enum ibv_event_type type)
{
	return type == IBV_EVENT_CQ_ERR || type == IBV_EVENT_SRQ_ERR ||
	       type == IBV_EVENT_DEVICE_FATAL;
}

/* The kernel queues unread events: one may be older than the queue pair. */
static bool is_port_up(const struct rdma_state *state)
{
	struct ibv_port_attr port;

	return !ibv_query_port(state->endpoint->verbs, state->port_num, &port) &&
	       port.state == IBV_PORT_ACTIVE;
}

/*
 * On RC, outstanding operations fail unless the port returns in time. A manual queue pair
 * that only waits would not notice, and UD loses messages silently.
 */
static void handle_port_down(struct rdma_state *state)
{
	static const char reason[] = "the port of the device went down";

	if (state->conn || is_port_up(state))
		alarm_note(&state->endpoint->alarm, reason);
	else
		alarm_raise(&state->endpoint->alarm, -ENETDOWN, reason);
}

static void handle(struct async *async, const struct ibv_async_event *event)
{
	struct rdma_state *state = CONTAINER_OF(async, struct rdma_state, async);
	const char *reason;

	if (!event) {
		alarm_raise(&state->endpoint->alarm, -EIO,
			    "the RDMA device no longer reports events");
		return;
	}
	if (!concerns(state, event))
		return;
	if (event->event_type == IBV_EVENT_COMM_EST && state->conn)
		rdma_notify(state->conn, IBV_EVENT_COMM_EST);
	if (event->event_type == IBV_EVENT_PORT_ERR)
		handle_port_down(state);
	if (event->event_type == IBV_EVENT_PORT_ACTIVE)
		alarm_note(&state->endpoint->alarm, "");
	reason = fatal_reason(event->event_type);
	if (!reason)
		return;
	/* Set this before the alarm, so that a thread that the alarm wakes sees it. */
	if (breaks_endpoint(event->event_type))
		atomic_store(&state->endpoint->is_broken, true);
	alarm_raise(&state->endpoint->alarm, -EIO, reason);
}

int guard_device(struct rdma_context *ctx, struct error *error)
{
	ctx->state->conn = ctx->conn;
	ctx->state->async = (struct async){.verbs = ctx->state->endpoint->verbs, .handle = handle};
	return async_add(&ctx->state->async, error);
}

static void cm_ready(struct watch *watch)
{
	struct rdma_state *state = CONTAINER_OF(watch, struct rdma_state, cm_watch);
	struct cm_event event;
	struct error error = {0};
	int got;

	while ((got = cm_take(state->watched, &event, &error)) > 0) {
		struct error found = {0};

		if (event.event.event == RDMA_CM_EVENT_ADDR_CHANGE)
			continue; /* bonding: the connection survives */
		/* Sent by a server that ended before it saw the connection. */
		if (event.event.event == RDMA_CM_EVENT_REJECTED)
			event.event.event = RDMA_CM_EVENT_DISCONNECTED;
		cm_unexpected(&event, &found);
		/* The device is gone for all queue pairs on the endpoint. */
		if (event.event.event == RDMA_CM_EVENT_DEVICE_REMOVAL)
			atomic_store(&state->endpoint->is_broken, true);
		alarm_raise(&state->endpoint->alarm, found.code, found.text);
	}
	if (got < 0) {
		alarm_raise(&state->endpoint->alarm, error.code, error.text);
		watch->fd = -1;
	}
}

int guard_connection(struct rdma_context *ctx, struct rdma_event_channel *channel,
		     struct error *error)
{
	struct watch *watch = &ctx->state->cm_watch;

	ctx->state->watched = channel;
	*watch = (struct watch){.fd = channel->fd, .ready = cm_ready};
	return watch_add(watch, error);
}

void guard_release(struct rdma_context *ctx)
{
	watch_remove(&ctx->state->cm_watch);
	async_remove(&ctx->state->async);
}

static void removal_ready(struct watch *watch)
{
	struct endpoint *endpoint = CONTAINER_OF(watch, struct endpoint, watch);
	struct cm_event event;
	struct error error = {0};
	int got;

	while ((got = cm_take(endpoint->channel, &event, &error)) > 0) {
		struct error found = {0};

		if (event.event.event != RDMA_CM_EVENT_DEVICE_REMOVAL)
			continue;
		cm_unexpected(&event, &found);
		atomic_store(&endpoint->is_broken, true);
		alarm_raise(&endpoint->alarm, found.code, found.text);
	}
	if (got < 0)
		watch->fd = -1;
}

/* Returns 1 if bound to the device, 0 if the address leads to no or another device. */
static int bind_removal(struct rdma_cm_id **id, struct rdma_event_channel *channel,
			const char *device, struct sockaddr_storage *address)
{
	int code = verbs_result(rdma_create_id(channel, id, NULL, RDMA_PS_TCP));

	if (code) {
		*id = NULL;
		return code;
	}
	if (!rdma_bind_addr(*id, (struct sockaddr *)address) && (*id)->verbs &&
	    !strcmp(ibv_get_device_name((*id)->verbs->device), device))
		return 1;
	rdma_destroy_id(*id);
	*id = NULL;
	return 0;
}

int guard_port(struct rdma_cm_id **id, struct rdma_event_channel *channel,
	       const struct device_port *port)
{
	int bound = 0;

	for (size_t i = 0; i < port->n_addresses && !bound; i++)
		bound = bind_removal(id, channel, port->device, &port->addresses[i].address);
	return bound;
}

/* A RoCE GID is an IP address: looking it up is faster than listing all devices. */
static bool bind_by_gid(struct endpoint *endpoint)
{
	const char *device = ibv_get_device_name(endpoint->verbs->device);
	struct sockaddr_in in = {.sin_family = AF_INET};
	struct sockaddr_storage address = {0};
	struct ibv_gid_entry *gids;
	struct error ignored = {0};
	bool is_bound = false;
	size_t count;

	device_gids(endpoint->verbs, endpoint->device.phys_port_cnt, &gids, &count, &ignored);
	for (size_t i = 0; i < count && !is_bound; i++) {
		struct in6_addr gid;

		memcpy(&gid, gids[i].gid.raw, sizeof(gid));
		if (gids[i].gid_type != IBV_GID_TYPE_ROCE_V2 || !IN6_IS_ADDR_V4MAPPED(&gid))
			continue;
		memcpy(&in.sin_addr, &gid.s6_addr[12], sizeof(in.sin_addr));
		memcpy(&address, &in, sizeof(in));
		is_bound = bind_removal(&endpoint->id, endpoint->channel, device, &address) > 0;
	}
	free(gids);
	return is_bound;
}

static bool bind_by_address(struct endpoint *endpoint)
{
	const char *device = ibv_get_device_name(endpoint->verbs->device);
	struct error ignored = {0};
	struct device_list list;
	bool is_bound = false;

	if (device_list_open(&list, &ignored))
		return false;
	for (size_t i = 0; i < list.n_ports && !is_bound; i++)
		is_bound = !strcmp(list.ports[i].device, device) &&
			   guard_port(&endpoint->id, endpoint->channel, &list.ports[i]) > 0;
	device_list_close(&list);
	return is_bound;
}

int guard_endpoint(struct endpoint *endpoint, struct error *error)
{
	/* Fabrics without any address can only use manual queue pairs. */
	if (cm_channel_open(&endpoint->channel, NULL) ||
	    (!bind_by_gid(endpoint) && !bind_by_address(endpoint)))
		return 0;
	endpoint->watch = (struct watch){.fd = endpoint->channel->fd, .ready = removal_ready};
	return watch_add(&endpoint->watch, error);
}

void guard_release_endpoint(struct endpoint *endpoint)
{
	watch_remove(&endpoint->watch);
	if (endpoint->id)
		rdma_destroy_id(endpoint->id);
	if (endpoint->channel)
		rdma_destroy_event_channel(endpoint->channel);
	endpoint->id = NULL;
	endpoint->channel = NULL;
}
