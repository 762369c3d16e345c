/* SPDX-License-Identifier: MIT */
#include "core/soft/cm_link.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/soft/cm.h"
#include "core/soft/message.h"
#include "core/soft/process.h"

/* Returns 0, -EAGAIN when all was heard, or another at the end. */
static int hear(struct soft_cm_link *link)
{
	struct soft_cm_message message;
	ssize_t size = recv(link->source.fd, &message, sizeof(message), MSG_DONTWAIT | MSG_TRUNC);

	if (size < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	if (!size)
		return -ECONNRESET;
	if (size != sizeof(message) || message.magic != SOFT_CM_MAGIC ||
	    message.data_length > sizeof(message.data))
		return -EPROTO;
	soft_cm_receive(link, &message);
	return 0;
}

static void on_link(struct soft_source *source, uint32_t events)
{
	struct soft_cm_link *link = CONTAINER_OF(source, struct soft_cm_link, source);
	int result;

	pthread_mutex_lock(&soft_cm_mutex);
	do
		result = hear(link);
	while (!result);
	if (result != -EAGAIN && link->id) {
		struct soft_cm_id *id = link->id;

		id->link = NULL;
		soft_cm_receive_end(id);
	}
	pthread_mutex_unlock(&soft_cm_mutex);
	if (result == -EAGAIN)
		return;
	soft_service_remove(&soft_process.service, source);
	close(source->fd);
	free(link);
}

static struct soft_cm_link *create(int fd)
{
	struct soft_cm_link *link = calloc(1, sizeof(*link));

	if (link)
		link->source = (struct soft_source){fd, on_link};
	return link;
}

int soft_cm_link_knock(uint32_t slot)
{
	return soft_peer_knock(slot, SOFT_MESSAGE_CONNECTION, NULL);
}

int soft_cm_link_join(struct soft_cm_id *id, int fd)
{
	struct soft_cm_link *link = create(fd);
	int result;

	if (!link)
		return -ENOMEM;
	result = soft_service_add(&soft_process.service, &link->source);
	if (result) {
		free(link);
		return result;
	}
	link->id = id;
	id->link = link;
	return 0;
}

int soft_cm_link_send(struct soft_cm_link *link, struct soft_cm_message *message)
{
	if (!link)
		return -ENOTCONN;
	message->magic = SOFT_CM_MAGIC;
	if (send(link->source.fd, message, sizeof(*message), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return -errno;
	return 0;
}

void soft_cm_link_leave(struct soft_cm_link *link)
{
	if (!link)
		return;
	if (link->id)
		link->id->link = NULL;
	link->id = NULL;
	link->is_fresh = false;
	shutdown(link->source.fd, SHUT_RDWR);
}

void soft_cm_link_adopt(int fd)
{
	struct soft_cm_link *link = fd < 0 ? NULL : create(fd);

	if (!link)
		goto fail;
	link->is_fresh = true;
	if (soft_service_add(&soft_process.service, &link->source))
		goto fail;
	return;
fail:
	if (fd >= 0)
		close(fd);
	free(link);
}
