/* SPDX-License-Identifier: MIT */
#include "core/soft/peer/message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

union control {
	struct cmsghdr header;
	char room[CMSG_SPACE(SOFT_MESSAGE_FDS * sizeof(int))];
};

static void attach(struct msghdr *header, union control *control, const int *fd)
{
	unsigned int count = 0;
	struct cmsghdr *part;

	while (count < SOFT_MESSAGE_FDS && fd[count] >= 0)
		count++;
	if (!count)
		return;
	header->msg_control = control;
	header->msg_controllen = CMSG_SPACE(count * sizeof(int));
	part = CMSG_FIRSTHDR(header);
	part->cmsg_level = SOL_SOCKET;
	part->cmsg_type = SCM_RIGHTS;
	part->cmsg_len = CMSG_LEN(count * sizeof(int));
	memcpy(CMSG_DATA(part), fd, count * sizeof(int));
}

int soft_message_send(int socket, const struct soft_message *message,
		      const int fd[static SOFT_MESSAGE_FDS])
{
	struct soft_message copy = *message;
	struct iovec data = {.iov_base = &copy, .iov_len = sizeof(copy)};
	struct msghdr header = {.msg_iov = &data, .msg_iovlen = 1};
	union control control = {.room = {0}};

	copy.magic = SOFT_MESSAGE_MAGIC;
	attach(&header, &control, fd);
	if (sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return -errno;
	return 0;
}

static void detach(struct msghdr *header, int *fd)
{
	unsigned int count = 0;

	for (struct cmsghdr *part = CMSG_FIRSTHDR(header); part; part = CMSG_NXTHDR(header, part)) {
		size_t fds = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < fds; i++) {
			int one;

			memcpy(&one, CMSG_DATA(part) + i * sizeof(int), sizeof(one));
			if (count < SOFT_MESSAGE_FDS)
				fd[count++] = one;
			else
				close(one);
		}
	}
}

int soft_message_receive(int socket, struct soft_message *message, int fd[static SOFT_MESSAGE_FDS])
{
	struct iovec data = {.iov_base = message, .iov_len = sizeof(*message)};
	union control control = {.room = {0}};
	struct msghdr header = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t size;

	for (unsigned int i = 0; i < SOFT_MESSAGE_FDS; i++)
		fd[i] = -1;
	size = recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (size < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	detach(&header, fd);
	if (size == sizeof(*message) && message->magic == SOFT_MESSAGE_MAGIC &&
	    !(header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
		return 0;
	for (unsigned int i = 0; i < SOFT_MESSAGE_FDS; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	return size ? -EPROTO : -ECONNRESET;
}
