/* SPDX-License-Identifier: MIT */
#include "core/soft/cm/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/soft/cm/cm.h"
#include "core/soft/peer/process.h"

enum {
	MESSAGES_MAX = 16, /* per wakeup; a connection has about six in total */
};

/* All links, so that those without a connection can be closed at the end. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct soft_cm_socket *links;

static struct soft_cm_socket *create(int fd,
				     void (*ready)(struct soft_source *source, uint32_t events))
{
	struct soft_cm_socket *link = calloc(1, sizeof(*link));

	if (!link)
		return NULL;
	link->source = (struct soft_source){fd, ready};
	pthread_mutex_lock(&mutex);
	link->next = links;
	links = link;
	pthread_mutex_unlock(&mutex);
	return link;
}

static void discard(struct soft_cm_socket *link)
{
	struct soft_cm_socket **at = &links;

	if (!link)
		return;
	pthread_mutex_lock(&mutex);
	while (*at != link)
		at = &(*at)->next;
	*at = link->next;
	pthread_mutex_unlock(&mutex);
	free(link);
}

void soft_cm_socket_forget_all(void)
{
	pthread_mutex_init(&mutex, NULL);
	links = NULL;
}

void soft_cm_socket_close_all(void)
{
	struct soft_cm_socket **at = &links;

	pthread_mutex_lock(&mutex);
	while (*at) {
		struct soft_cm_socket *link = *at;

		if (link->id) {
			at = &link->next;
			continue;
		}
		*at = link->next;
		close(link->source.fd);
		free(link);
	}
	pthread_mutex_unlock(&mutex);
}

/*
 * Returns 0, -EAGAIN if there is no more data, or another negative errno if the connection ended.
 */
static int receive(struct soft_cm_socket *link)
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
	struct soft_cm_socket *link = CONTAINER_OF(source, struct soft_cm_socket, source);
	int result = 0;

	pthread_mutex_lock(&soft_cm_mutex);
	for (unsigned int i = 0; i < MESSAGES_MAX && !result; i++)
		result = receive(link);
	if (!result)
		result = -EAGAIN; /* let other sources run first */
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
	discard(link);
}

int soft_cm_socket_join(struct soft_cm_id *id, int fd)
{
	struct soft_cm_socket *link = create(fd, on_link);
	int result;

	if (!link)
		return -ENOMEM;
	result = soft_service_add(&soft_process.service, &link->source);
	if (result) {
		discard(link);
		return result;
	}
	link->id = id;
	id->link = link;
	return 0;
}

int soft_cm_socket_send(struct soft_cm_socket *link, struct soft_cm_message *message)
{
	if (!link)
		return -ENOTCONN;
	message->magic = SOFT_CM_MAGIC;
	/* Ignore a closed connection, like a packet lost on the wire: the event follows. */
	if (send(link->source.fd, message, sizeof(*message), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
	    errno != EPIPE && errno != ECONNRESET)
		return -errno;
	return 0;
}

void soft_cm_socket_leave(struct soft_cm_socket *link)
{
	if (!link)
		return;
	if (link->id)
		link->id->link = NULL;
	link->id = NULL;
	link->is_fresh = false;
	shutdown(link->source.fd, SHUT_RDWR);
}

void soft_cm_socket_adopt(int fd)
{
	struct soft_cm_socket *link = fd < 0 ? NULL : create(fd, on_link);

	if (!link)
		goto fail;
	link->is_fresh = true;
	if (!soft_service_add(&soft_process.service, &link->source))
		return;
fail:
	if (fd >= 0)
		close(fd);
	discard(link);
}
