/* SPDX-License-Identifier: MIT */
#include "core/guard.h"

#include <errno.h>
#include <fcntl.h>

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
		return event->element.cq == state->completion.cq;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
		return event->element.qp == state->queue.qp;
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_PORT_ACTIVE:
		return event->element.port_num == state->conn->port_num;
	default:
		return true;
	}
}

static void tell(struct watch *watch, void *argument)
{
	struct rdma_state *state = CONTAINER_OF(watch, struct rdma_state, async_watch);
	const struct async_news *news = argument;

	if (news->event->event_type == IBV_EVENT_COMM_EST && concerns(state, news->event))
		rdma_notify(state->conn, IBV_EVENT_COMM_EST);
	if (news->event->event_type == IBV_EVENT_PORT_ERR && concerns(state, news->event))
		alarm_note(&state->alarm, "the port of the device went down");
	if (news->event->event_type == IBV_EVENT_PORT_ACTIVE && concerns(state, news->event))
		alarm_note(&state->alarm, "");
	if (news->reason && concerns(state, news->event))
		alarm_raise(&state->alarm, -EIO, news->reason);
}

static void async_ready(struct watch *watch)
{
	struct rdma_state *state = CONTAINER_OF(watch, struct rdma_state, async_watch);
	struct ibv_async_event event;

	while (!ibv_get_async_event(state->queue.qp->context, &event)) {
		struct async_news news = {&event, fatal_reason(event.event_type)};

		watch_visit(watch, tell, &news);
		ibv_ack_async_event(&event);
	}
	if (errno != EAGAIN && errno != EINTR) {
		alarm_raise(&state->alarm, -EIO, "the RDMA device tells its events no more");
		watch->fd = -1;
	}
}

int guard_device(struct rdma_context *ctx, struct error *error)
{
	struct watch *watch = &ctx->state->async_watch;
	int fd = ctx->conn->verbs->async_fd;
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
		alarm_raise(&state->alarm, found.code, found.text);
	}
	if (got < 0) {
		alarm_raise(&state->alarm, error.code, error.text);
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
