/* SPDX-License-Identifier: MIT */
#include "core/guard.h"

#include <errno.h>
#include <fcntl.h>

#include "core/device.h"
/* Whoever reads an event of a device tells all the contexts on it. */
struct async_news {
	const struct ibv_async_event *event;
	const char *reason; /* NULL: not fatal */
};

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
		return "the other end sent a request that the queue pair cannot take";
	case IBV_EVENT_QP_ACCESS_ERR:
		return "the other end reached for memory that it may not use";
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
		return event->element.cq == state->ground->completion.cq;
	case IBV_EVENT_SRQ_ERR:
		return event->element.srq == state->ground->srq;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
		return event->element.qp == state->queue.qp;
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_PORT_ACTIVE:
		return event->element.port_num == state->port_num;
	default:
		return true;
	}
}

/* What all other queue pairs of the ground cannot do without either, then or later. */
static bool breaks_ground(enum ibv_event_type type)
{
	return type == IBV_EVENT_CQ_ERR || type == IBV_EVENT_SRQ_ERR ||
	       type == IBV_EVENT_DEVICE_FATAL;
}

/*
 * What was under way fails by itself, on RC: unless the port comes back in time. By hand,
 * nothing else tells an end that only waits, and datagrams are lost in silence.
 */
static void tell_of_port(struct rdma_state *state)
{
	static const char reason[] = "the port of the device went down";

	if (state->conn)
		alarm_note(&state->ground->alarm, reason);
	else
		alarm_raise(&state->ground->alarm, -ENETDOWN, reason);
}

static void tell(struct watch *watch, void *argument)
{
	struct rdma_state *state = CONTAINER_OF(watch, struct rdma_state, async_watch);
	const struct async_news *news = argument;
	enum ibv_event_type type = news->event->event_type;

	if (!concerns(state, news->event))
		return;
	if (type == IBV_EVENT_COMM_EST && state->conn)
		rdma_notify(state->conn, IBV_EVENT_COMM_EST);
	if (type == IBV_EVENT_PORT_ERR)
		tell_of_port(state);
	if (type == IBV_EVENT_PORT_ACTIVE)
		alarm_note(&state->ground->alarm, "");
	if (!news->reason)
		return;
	alarm_raise(&state->ground->alarm, -EIO, news->reason);
	if (breaks_ground(type))
		atomic_store(&state->ground->is_broken, true);
}

static void async_ready(struct watch *watch)
{
	struct rdma_state *state = CONTAINER_OF(watch, struct rdma_state, async_watch);
	struct ibv_async_event event;

	while (!ibv_get_async_event(state->ground->verbs, &event)) {
		struct async_news news = {&event, fatal_reason(event.event_type)};

		watch_visit(watch, tell, &news);
		ibv_ack_async_event(&event);
	}
	if (errno != EAGAIN && errno != EINTR) {
		alarm_raise(&state->ground->alarm, -EIO,
			    "the RDMA device tells its events no more");
		watch->fd = -1;
	}
}

int guard_device(struct rdma_context *ctx, struct error *error)
{
	struct watch *watch = &ctx->state->async_watch;
	int fd = ctx->state->ground->verbs->async_fd;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK))
		return error_set_errno(error, -errno, "cannot watch the device");
	ctx->state->conn = ctx->conn;
	*watch = (struct watch){.fd = fd, .ready = async_ready};
	return watch_add(watch, error);
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
			continue; /* bonding: the connection itself lives on */
		/* Of a server that ended before it knew of the connection. */
		if (event.event.event == RDMA_CM_EVENT_REJECTED)
			event.event.event = RDMA_CM_EVENT_DISCONNECTED;
		cm_unexpected(&event, &found);
		alarm_raise(&state->ground->alarm, found.code, found.text);
		/* The device is gone for all that is on it. */
		if (event.event.event == RDMA_CM_EVENT_DEVICE_REMOVAL)
			atomic_store(&state->ground->is_broken, true);
	}
	if (got < 0) {
		alarm_raise(&state->ground->alarm, error.code, error.text);
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
	watch_remove(&ctx->state->async_watch);
}

static void removal_ready(struct watch *watch)
{
	struct ground *ground = CONTAINER_OF(watch, struct ground, watch);
	struct cm_event event;
	struct error error = {0};
	int got;

	while ((got = cm_take(ground->channel, &event, &error)) > 0) {
		struct error found = {0};

		if (event.event.event != RDMA_CM_EVENT_DEVICE_REMOVAL)
			continue;
		cm_unexpected(&event, &found);
		alarm_raise(&ground->alarm, found.code, found.text);
		atomic_store(&ground->is_broken, true);
	}
	if (got < 0)
		watch->fd = -1;
}

int guard_ground(struct ground *ground, struct error *error)
{
	const char *device = ibv_get_device_name(ground->verbs->device);
	struct sockaddr_storage address;

	/* Fabrics without any of these are what connections by hand are for. */
	if (device_address(device, NULL, &address, NULL) ||
	    cm_channel_open(&ground->channel, NULL) ||
	    rdma_create_id(ground->channel, &ground->id, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(ground->id, (struct sockaddr *)&address))
		return 0;
	ground->watch = (struct watch){.fd = ground->channel->fd, .ready = removal_ready};
	return watch_add(&ground->watch, error);
}

void guard_release_ground(struct ground *ground)
{
	watch_remove(&ground->watch);
	if (ground->id)
		rdma_destroy_id(ground->id);
	if (ground->channel)
		rdma_destroy_event_channel(ground->channel);
	ground->id = NULL;
	ground->channel = NULL;
}
