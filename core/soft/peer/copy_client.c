/* SPDX-License-Identifier: MIT */
#include "core/soft/peer/copy_client.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/soft/peer/message.h"
#include "core/soft/peer/peer.h"
#include "core/soft/time.h"

enum {
	PATIENCE_S = 10, /* for a stopped process */
};

struct soft_copy_client {
	pthread_mutex_t mutex;
	int fd;
};

/* Position in a span. */
struct cursor {
	const struct soft_span *span;
	unsigned int piece;
	size_t done;
};

struct soft_copy_client *soft_copy_client_open(uint32_t slot)
{
	static const int room = 4 * SOFT_COPY_MAX;
	struct soft_copy_client *client = calloc(1, sizeof(*client));

	if (!client)
		return NULL;
	client->fd = soft_peer_knock(slot, SOFT_MESSAGE_COPY, NULL);
	if (client->fd < 0) {
		free(client);
		return NULL;
	}
	setsockopt(client->fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	pthread_mutex_init(&client->mutex, NULL);
	return client;
}

void soft_copy_client_stop(struct soft_copy_client *client)
{
	if (client)
		shutdown(client->fd, SHUT_RDWR);
}

void soft_copy_client_close(struct soft_copy_client *client)
{
	if (!client)
		return;
	close(client->fd);
	pthread_mutex_destroy(&client->mutex);
	free(client);
}

static unsigned int soft_copy_client_take(struct cursor *cursor, size_t size, struct iovec *parts)
{
	unsigned int count = 0;

	while (size && cursor->piece < cursor->span->count) {
		const struct iovec *piece = &cursor->span->piece[cursor->piece];
		size_t left = piece->iov_len - cursor->done;
		size_t part = left < size ? left : size;

		if (part)
			parts[count++] =
				(struct iovec){(char *)piece->iov_base + cursor->done, part};
		size -= part;
		cursor->done += part;
		if (cursor->done == piece->iov_len) {
			cursor->piece++;
			cursor->done = 0;
		}
	}
	return count;
}

static bool await(int fd, short events)
{
	struct pollfd ready = {.fd = fd, .events = events};
	uint64_t now_ns = soft_time_ns();
	uint64_t end_ns = now_ns + PATIENCE_S * SOFT_SECOND_NS;

	for (; now_ns < end_ns; now_ns = soft_time_ns())
		if (poll(&ready, 1, (int)((end_ns - now_ns) / 1000000) + 1) > 0)
			return true;
	return false;
}

/*
 * Returns the size of the answer, -EFAULT if local memory to send is missing, or -EPIPE if the
 * connection failed and is unusable from now on.
 */
static int ask(const struct soft_copy_client *client, struct msghdr *outgoing,
	       struct msghdr *incoming)
{
	size_t sent = 0;
	ssize_t size;

	for (size_t i = 0; i < outgoing->msg_iovlen; i++)
		sent += outgoing->msg_iov[i].iov_len;
	if (!await(client->fd, POLLOUT))
		return -EPIPE;
	size = sendmsg(client->fd, outgoing, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (size < 0 && errno == EFAULT)
		return -EFAULT;
	if (size != (ssize_t)sent || !await(client->fd, POLLIN))
		return -EPIPE;
	size = recvmsg(client->fd, incoming, MSG_DONTWAIT);
	return size < 0 || incoming->msg_flags & MSG_TRUNC ? -EPIPE : (int)size;
}

static int soft_copy_client_run_one(const struct soft_copy_client *client,
				    struct soft_copy_request *request, struct cursor *cursor)
{
	struct soft_copy_answer said = {0};
	struct iovec out[SOFT_SGE_MAX + 2] = {
		{request, sizeof(*request)}
        };
	struct iovec in[SOFT_SGE_MAX + 2] = {
		{&said, sizeof(said)}
        };
	bool is_to = request->kind == SOFT_COPY_TO;
	unsigned int count =
		soft_copy_client_take(cursor, request->length, is_to ? out + 1 : in + 1);
	struct msghdr outgoing = {.msg_iov = out, .msg_iovlen = 1 + (is_to ? count : 0)};
	struct msghdr incoming = {.msg_iov = in, .msg_iovlen = 1 + (is_to ? 0 : count)};
	int size = ask(client, &outgoing, &incoming);

	if (size == -EFAULT)
		return size;
	if (size < (int)sizeof(said) || said.magic != SOFT_COPY_MAGIC || said.result > 0)
		return -EPIPE;
	if (said.result)
		return said.result == -EPIPE ? -EFAULT : said.result;
	return (uint32_t)size == sizeof(said) + (is_to ? 0 : request->length) ? 0 : -EPIPE;
}

static int run_piece(const struct soft_copy_client *client, struct soft_copy_request *request,
		     const struct iovec *piece, struct cursor *cursor)
{
	int result = 0;

	for (size_t done = 0; done < piece->iov_len && !result; done += request->length) {
		size_t left = piece->iov_len - done;

		request->address = (uintptr_t)piece->iov_base + done;
		request->length = left < SOFT_COPY_MAX ? left : SOFT_COPY_MAX;
		result = soft_copy_client_run_one(client, request, cursor);
	}
	return result;
}

int soft_copy_client_run(const struct soft_peer *peer, enum soft_copy_kind kind,
			 const struct soft_span *remote, const struct soft_span *local)
{
	struct soft_copy_request request = {
		.magic = SOFT_COPY_MAGIC,
		.kind = kind,
		.qp = remote->qp,
		.srq = remote->srq,
		.access = remote->access,
	};
	struct soft_copy_client *client = peer->copy_client;
	struct cursor cursor = {.span = local};
	int canceled;
	int result = 0;

	/* Posting is not a cancellation point. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &canceled);
	pthread_mutex_lock(&client->mutex);
	for (unsigned int i = 0; i < remote->count && !result; i++) {
		request.key = remote->key[i];
		result = run_piece(client, &request, &remote->piece[i], &cursor);
	}
	/* A late answer would be taken for the answer to the next request. */
	if (result == -EPIPE) {
		soft_copy_client_stop(client);
		soft_peer_leave(peer);
	}
	pthread_mutex_unlock(&client->mutex);
	pthread_setcancelstate(canceled, NULL);
	return result == -EPIPE ? -ESRCH : result;
}
