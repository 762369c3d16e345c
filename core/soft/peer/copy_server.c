/* SPDX-License-Identifier: MIT */
#include "core/soft/peer/copy_server.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/soft/memory/region.h"
#include "core/soft/op/qp.h"
#include "core/soft/peer/process.h"

enum {
	REMOTE = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
};

struct soft_copy_server_client {
	struct soft_copy_server_client *next;
	int fd;
	uint32_t slot;
};

/* Returns the size that the message must have, or 0 if the request is invalid. */
static size_t size_of(const struct soft_copy_request *request)
{
	if (request->magic != SOFT_COPY_MAGIC || request->qp >= SOFT_QPS || !request->length ||
	    request->length > SOFT_COPY_MAX)
		return 0;
	switch (request->access) {
	case IBV_ACCESS_LOCAL_WRITE:
	case IBV_ACCESS_REMOTE_WRITE:
		if (request->kind != SOFT_COPY_TO)
			return 0;
		break;
	case IBV_ACCESS_REMOTE_READ:
		if (request->kind != SOFT_COPY_FROM)
			return 0;
		break;
	case IBV_ACCESS_REMOTE_ATOMIC:
		if (request->length != sizeof(uint64_t))
			return 0;
		break;
	default:
		return 0;
	}
	switch (request->kind) {
	case SOFT_COPY_TO:
		return sizeof(*request) + request->length;
	case SOFT_COPY_FROM:
		return sizeof(*request);
	default:
		return 0;
	}
}

/*
 * Returns whether the queue pair accepts this access from the client's process: data for a posted
 * receive, or remote access.
 */
static bool is_connected(const struct soft_copy_server_client *client,
			 const struct soft_copy_request *request)
{
	const struct soft_qp_image *qp = &soft_process.arena.image->qp[request->qp];
	uint32_t state = atomic_load(&qp->state);

	if (state < IBV_QPS_RTR || state > IBV_QPS_SQE)
		return false;
	if (qp->type == IBV_QPT_UD)
		return !(request->access & REMOTE);
	if (qp->type < IBV_QPT_DRIVER && soft_image_slot(atomic_load(&qp->peer)) != client->slot)
		return false;
	return !(request->access & REMOTE) || atomic_load(&qp->access) & request->access;
}

/* Returns the SRQ whose protection domain counts, or 0: the queue pair has its own. */
static uint32_t srq_of(const struct soft_qp_image *qp, const struct soft_copy_request *request)
{
	if (qp->type == IBV_QPT_XRC_RECV)
		return request->srq % SOFT_SRQS;
	return request->access & REMOTE ? 0 : qp->srq % SOFT_SRQS;
}

/* A null region has the same place for all addresses. */
static bool is_place(const struct soft_region_image *region, uint64_t address, uint64_t place)
{
	return place == address || region->access & SOFT_ACCESS_NULL;
}

/*
 * Translates the request to local memory. Returns 0, -ESRCH if no queue pair answers the client, or
 * -EACCES if the access is denied.
 */
static int soft_copy_server_find(const struct soft_copy_server_client *client,
				 const struct soft_copy_request *request, struct iovec *memory)
{
	const struct soft_image *image = soft_process.arena.image;
	const struct soft_qp_image *qp = &image->qp[request->qp];
	const struct soft_region_image *region =
		&soft_process.arena.memory->region[soft_region_number(request->key)];
	uint32_t srq = srq_of(qp, request);
	const struct soft_reach reach = {
		.address = request->address - region->address + region->iova,
		.length = request->length,
		.key = request->key,
		/* Whatever may vanish, the kernel copies and reports errors. */
		.pd = (srq ? image->srq[srq].pd : qp->pd) |
		      (region->pd & (SOFT_CAREFUL | SOFT_WINDOW)),
		.access = request->access,
		.qp = request->qp,
	};
	uint64_t place;

	if (!is_connected(client, request))
		return -ESRCH;
	if (qp->type == IBV_QPT_XRC_RECV && atomic_load(&image->srq[srq].xrcd) != qp->xrcd)
		return -EACCES;
	if (!soft_region_allows(&soft_process.arena, &reach, &place) ||
	    !is_place(region, request->address, place))
		return -EACCES;
	*memory = (struct iovec){(void *)(uintptr_t)place, request->length};
	return 0;
}

/* If the memory has been unmapped, the kernel reports it. */
static int receive(int fd, const struct iovec *memory)
{
	struct soft_copy_request request;
	struct iovec parts[] = {
		{&request, sizeof(request)},
                *memory
        };
	struct msghdr header = {.msg_iov = parts, .msg_iovlen = memory->iov_len ? 2 : 1};

	return recvmsg(fd, &header, MSG_DONTWAIT) < 0 ? -errno : 0;
}

static int answer(int fd, int result, const struct iovec *memory)
{
	struct soft_copy_answer said = {SOFT_COPY_MAGIC, result};
	struct iovec parts[] = {
		{&said, sizeof(said)},
                *memory
        };
	struct msghdr header = {.msg_iov = parts, .msg_iovlen = memory->iov_len ? 2 : 1};

	return sendmsg(fd, &header, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/*
 * Serves one request. The client reads the answer before it sends the next. Returns 0, or a
 * negative errno if the connection ended.
 */
static int serve(const struct soft_copy_server_client *client)
{
	static const struct iovec none;
	struct soft_copy_request request;
	struct iovec memory = {0};
	ssize_t size =
		recv(client->fd, &request, sizeof(request), MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);
	bool is_to;
	int result;

	if (size < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (size < (ssize_t)sizeof(request) || (size_t)size != size_of(&request))
		return -EPROTO;
	is_to = request.kind == SOFT_COPY_TO;
	result = soft_copy_server_find(client, &request, &memory);
	if (is_to && !result) {
		result = receive(client->fd, &memory);
		return answer(client->fd, result, &none);
	}
	if (receive(client->fd, &none))
		return -EPROTO;
	if (!result)
		result = answer(client->fd, 0, &memory);
	/* Unreadable memory is not the client's fault: report it and stay connected. */
	return !result ? 0 : answer(client->fd, result, &none);
}

static void remove_client(struct soft_copy_server *server, struct soft_copy_server_client *client)
{
	struct soft_copy_server_client **at = &server->clients;

	while (*at != client)
		at = &(*at)->next;
	*at = client->next;
	/*
	 * The door may hold a duplicate of the socket, so closing it would not remove it from the
	 * epoll set.
	 */
	epoll_ctl(server->epoll, EPOLL_CTL_DEL, client->fd, NULL);
	close(client->fd);
	free(client);
}

static void *work(void *argument)
{
	struct soft_copy_server *server = argument;
	struct epoll_event event;

	for (;;) {
		struct soft_copy_server_client *client;

		if (epoll_wait(server->epoll, &event, 1, -1) <= 0)
			continue;
		client = event.data.ptr;
		if (!client)
			return NULL;
		pthread_mutex_lock(&server->mutex);
		if (serve(client))
			remove_client(server, client);
		pthread_mutex_unlock(&server->mutex);
	}
}

static int soft_copy_server_add(struct soft_copy_server *server, int fd,
				struct soft_copy_server_client *client)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};

	return epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static void close_both(struct soft_copy_server *server)
{
	if (server->end >= 0)
		close(server->end);
	if (server->epoll >= 0)
		close(server->epoll);
}

/* Called on the service thread, whose signals are blocked. */
static int soft_copy_server_start(struct soft_copy_server *server)
{
	int result;

	if (server->is_running)
		return 0;
	server->epoll = epoll_create1(EPOLL_CLOEXEC);
	server->end = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	result = server->epoll < 0 || server->end < 0
			 ? -errno
			 : soft_copy_server_add(server, server->end, NULL);
	if (!result)
		result = -pthread_create(&server->thread, NULL, work, server);
	if (result) {
		close_both(server);
		return result;
	}
	pthread_setname_np(server->thread, "verbmark-copy");
	server->is_running = true;
	return 0;
}

void soft_copy_server_adopt(struct soft_copy_server *server, int fd, uint32_t slot)
{
	struct soft_copy_server_client *client = fd < 0 ? NULL : calloc(1, sizeof(*client));

	if (!client || soft_copy_server_start(server))
		goto fail;
	client->fd = fd;
	client->slot = slot;
	pthread_mutex_lock(&server->mutex);
	for (struct soft_copy_server_client *one = server->clients; one; one = one->next)
		if (one->slot == slot)
			shutdown(one->fd, SHUT_RDWR);
	client->next = server->clients;
	server->clients = client;
	if (soft_copy_server_add(server, fd, client))
		remove_client(server, client);
	pthread_mutex_unlock(&server->mutex);
	return;
fail:
	free(client);
	if (fd >= 0)
		close(fd);
}

void soft_copy_server_pass(struct soft_copy_server *server)
{
	pthread_mutex_lock(&server->mutex);
	pthread_mutex_unlock(&server->mutex);
}

void soft_copy_server_open(struct soft_copy_server *server)
{
	*server = (struct soft_copy_server){.is_running = false};
	pthread_mutex_init(&server->mutex, NULL);
}

void soft_copy_server_close(struct soft_copy_server *server)
{
	if (!server->is_running)
		return;
	soft_service_ring(server->end);
	pthread_join(server->thread, NULL);
	while (server->clients)
		remove_client(server, server->clients);
	close_both(server);
	server->is_running = false;
}
