/* SPDX-License-Identifier: MIT */
#include "core/verbs/async.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>

static void dispatch(struct watch *watch, void *argument)
{
	struct async *async = CONTAINER_OF(watch, struct async, watch);

	async->handle(async, argument);
}

static void ready(struct watch *watch)
{
	struct async *async = CONTAINER_OF(watch, struct async, watch);
	struct ibv_async_event event;

	while (!ibv_get_async_event(async->verbs, &event)) {
		watch_visit(watch, dispatch, &event);
		ibv_ack_async_event(&event);
	}
	if (errno != EAGAIN && errno != EINTR) {
		async->handle(async, NULL);
		watch->fd = -1;
	}
}

/* Guards the list, and the descriptors' flags, which all users of a context share. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct async *all;

/* Returns another listener on the same descriptor. Call with the mutex held. */
static const struct async *find_other(const struct async *async)
{
	const struct async *other = all;

	while (other && other->verbs->async_fd != async->verbs->async_fd)
		other = other->next;
	return other;
}

/* Call with the mutex held. */
static int async_begin(struct async *async)
{
	const struct async *other = find_other(async);
	int fd = async->verbs->async_fd;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK))
		return -errno;
	async->was_blocking = other ? other->was_blocking : !(flags & O_NONBLOCK);
	async->is_added = true;
	async->next = all;
	if (all)
		all->link = &async->next;
	async->link = &all;
	all = async;
	return 0;
}

/* Call with the mutex held, after the watcher has stopped reading for it. */
static void async_end(struct async *async)
{
	int fd = async->verbs->async_fd;
	int flags;

	*async->link = async->next;
	if (async->next)
		async->next->link = async->link;
	async->is_added = false;
	if (!async->was_blocking || find_other(async))
		return;
	flags = fcntl(fd, F_GETFL);
	if (flags >= 0)
		fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
}

int async_add(struct async *async, struct error *error)
{
	int code;

	pthread_mutex_lock(&mutex);
	code = async_begin(async);
	if (code) {
		error_set_errno(error, code, "cannot watch the device");
	} else {
		async->watch = (struct watch){.fd = async->verbs->async_fd, .ready = ready};
		code = watch_add(&async->watch, error);
		if (code)
			async_end(async);
	}
	pthread_mutex_unlock(&mutex);
	return code;
}

void async_remove(struct async *async)
{
	if (!async->is_added)
		return;
	pthread_mutex_lock(&mutex);
	watch_remove(&async->watch);
	async_end(async);
	pthread_mutex_unlock(&mutex);
}
