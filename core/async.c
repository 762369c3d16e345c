/* SPDX-License-Identifier: MIT */
#include "core/async.h"

#include <errno.h>
#include <fcntl.h>

static void tell(struct watch *watch, void *argument)
{
	struct async *async = CONTAINER_OF(watch, struct async, watch);

	async->hear(async, argument);
}

static void ready(struct watch *watch)
{
	struct async *async = CONTAINER_OF(watch, struct async, watch);
	struct ibv_async_event event;

	while (!ibv_get_async_event(async->verbs, &event)) {
		watch_visit(watch, tell, &event);
		ibv_ack_async_event(&event);
	}
	if (errno != EAGAIN && errno != EINTR) {
		async->hear(async, NULL);
		watch->fd = -1;
	}
}

int async_add(struct async *async, struct error *error)
{
	int fd = async->verbs->async_fd;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK))
		return error_set_errno(error, -errno, "cannot watch the device");
	async->watch = (struct watch){.fd = fd, .ready = ready};
	return watch_add(&async->watch, error);
}

void async_remove(struct async *async)
{
	watch_remove(&async->watch);
}
