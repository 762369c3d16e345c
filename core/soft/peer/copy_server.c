/* SPDX-License-Identifier: MIT */
#include "core/soft/peer/copy_server.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/soft/op/region.h"
#include "core/soft/peer/process.h"

enum {
	REMOTE = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
};

struct soft_copy_server_client {
	struct soft_copy_server_client *next;
	int fd;
	uint32_t slot;
};

/* What the message has to be long, 0: it asks for nothing that there is. */
static size_t size_of(const struct soft_copy_request *errand)
{
	if (errand->magic != SOFT_COPY_MAGIC || errand->qp >= SOFT_QPS || !errand->length ||
	    errand->length > SOFT_COPY_CLIENT_MAX)
		return 0;
	switch (errand->access) {
	case IBV_ACCESS_LOCAL_WRITE:
	case IBV_ACCESS_REMOTE_WRITE:
		if (errand->kind != SOFT_COPY_CLIENT_TO)
			return 0;
		break;
	case IBV_ACCESS_REMOTE_READ:
		if (errand->kind != SOFT_COPY_CLIENT_FROM)
			return 0;
		break;
	case IBV_ACCESS_REMOTE_ATOMIC:
		if (errand->length != sizeof(uint64_t))
			return 0;
		break;
	default:
		return 0;
	}
	switch (errand->kind) {
	case SOFT_COPY_CLIENT_TO:
		return sizeof(*errand) + errand->length;
	case SOFT_COPY_CLIENT_FROM:
		return sizeof(*errand);
	default:
		return 0;
	}
}

/* Whether the queue pair takes that from this process: a receive's data, or more. */
static bool is_connected(const struct soft_copy_server_client *client,
			 const struct soft_copy_request *errand)
{
	const struct soft_qp_image *qp = &soft_process.arena.image->qp[errand->qp];
	uint32_t state = atomic_load(&qp->state);

	if (state < IBV_QPS_RTR || state > IBV_QPS_SQE)
		return false;
	if (qp->type == IBV_QPT_UD)
		return !(errand->access & REMOTE);
	if (soft_image_slot(atomic_load(&qp->peer)) != client->slot)
		return false;
	return !(errand->access & REMOTE) || atomic_load(&qp->access) & errand->access;
}

/* 0, and the memory; -ESRCH where nothing answers, -EACCES where it is refused. */
static int soft_copy_server_find(const struct soft_copy_server_client *client,
				 const struct soft_copy_request *errand, struct iovec *memory)
{
	const struct soft_image *image = soft_process.arena.image;
	const struct soft_qp_image *qp = &image->qp[errand->qp];
	const struct soft_region_image *region =
		&soft_process.arena.memory->region[soft_region_number(errand->key)];
	uint32_t srq = errand->access & REMOTE ? 0 : qp->srq;
	const struct soft_reach reach = {
		.address = errand->address - region->address + region->iova,
		.length = errand->length,
		.key = errand->key,
		.pd = srq ? image->srq[srq % SOFT_SRQS].pd : qp->pd,
		.access = errand->access,
	};
	uint64_t place;

	if (!is_connected(client, errand))
		return -ESRCH;
	if (!soft_region_allows(&soft_process.arena, &reach, &place) || place != errand->address)
		return -EACCES;
	*memory = (struct iovec){(void *)(uintptr_t)place, errand->length};
	return 0;
}

/* Memory that is not there any more is the kernel's to find. */
static int receive(int fd, const struct iovec *memory)
{
	struct soft_copy_request errand;
	struct iovec parts[] = {
		{&errand, sizeof(errand)},
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

/* One request, whose answer is read before the next. 0, or a negative errno at the end. */
static int serve(const struct soft_copy_server_client *client)
{
	static const struct iovec none;
	struct soft_copy_request errand;
	struct iovec memory = {0};
	ssize_t size =
		recv(client->fd, &errand, sizeof(errand), MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);
	bool is_to;
	int result;

	if (size < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (size < (ssize_t)sizeof(errand) || (size_t)size != size_of(&errand))
		return -EPROTO;
	is_to = errand.kind == SOFT_COPY_CLIENT_TO;
	result = soft_copy_server_find(client, &errand, &memory);
	if (is_to && !result) {
		result = receive(client->fd, &memory);
		return answer(client->fd, result, &none);
	}
	if (receive(client->fd, &none))
		return -EPROTO;
	if (!result)
		result = answer(client->fd, 0, &memory);
	/* What cannot be read is no fault of who asks. */
	return !result ? 0 : answer(client->fd, result, &none);
}

static void remove_client(struct soft_copy_server *porter, struct soft_copy_server_client *client)
{
	struct soft_copy_server_client **at = &porter->clients;

	while (*at != client)
		at = &(*at)->next;
	*at = client->next;
	/* The door may still have the socket: closing alone would not end the waiting. */
	epoll_ctl(porter->epoll, EPOLL_CTL_DEL, client->fd, NULL);
	close(client->fd);
	free(client);
}

static void *work(void *argument)
{
	struct soft_copy_server *porter = argument;
	struct epoll_event event;

	for (;;) {
		struct soft_copy_server_client *client;

		if (epoll_wait(porter->epoll, &event, 1, -1) <= 0)
			continue;
		client = event.data.ptr;
		if (!client)
			return NULL;
		pthread_mutex_lock(&porter->mutex);
		if (serve(client))
			remove_client(porter, client);
		pthread_mutex_unlock(&porter->mutex);
	}
}

static int soft_copy_server_add(struct soft_copy_server *porter, int fd,
				struct soft_copy_server_client *client)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};

	return epoll_ctl(porter->epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static void close_both(struct soft_copy_server *porter)
{
	if (porter->end >= 0)
		close(porter->end);
	if (porter->epoll >= 0)
		close(porter->epoll);
}

/* On the service thread, whose signals are blocked. */
static int soft_copy_server_start(struct soft_copy_server *porter)
{
	int result;

	if (porter->is_running)
		return 0;
	porter->epoll = epoll_create1(EPOLL_CLOEXEC);
	porter->end = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	result = porter->epoll < 0 || porter->end < 0
			 ? -errno
			 : soft_copy_server_add(porter, porter->end, NULL);
	if (!result)
		result = -pthread_create(&porter->thread, NULL, work, porter);
	if (result) {
		close_both(porter);
		return result;
	}
	pthread_setname_np(porter->thread, "verbmark-porter");
	porter->is_running = true;
	return 0;
}

void soft_copy_server_adopt(struct soft_copy_server *porter, int fd, uint32_t slot)
{
	struct soft_copy_server_client *client = fd < 0 ? NULL : calloc(1, sizeof(*client));

	if (!client || soft_copy_server_start(porter))
		goto fail;
	client->fd = fd;
	client->slot = slot;
	pthread_mutex_lock(&porter->mutex);
	for (struct soft_copy_server_client *one = porter->clients; one; one = one->next)
		if (one->slot == slot)
			shutdown(one->fd, SHUT_RDWR);
	client->next = porter->clients;
	porter->clients = client;
	if (soft_copy_server_add(porter, fd, client))
		remove_client(porter, client);
	pthread_mutex_unlock(&porter->mutex);
	return;
fail:
	free(client);
	if (fd >= 0)
		close(fd);
}

void soft_copy_server_pass(struct soft_copy_server *porter)
{
	pthread_mutex_lock(&porter->mutex);
	pthread_mutex_unlock(&porter->mutex);
}

void soft_copy_server_open(struct soft_copy_server *porter)
{
	*porter = (struct soft_copy_server){.is_running = false};
	pthread_mutex_init(&porter->mutex, NULL);
}

void soft_copy_server_close(struct soft_copy_server *porter)
{
	if (!porter->is_running)
		return;
	soft_service_ring(porter->end);
	pthread_join(porter->thread, NULL);
	while (porter->clients)
		remove_client(porter, porter->clients);
	close_both(porter);
	porter->is_running = false;
}
