/* SPDX-License-Identifier: MIT */
/*
 * What processes say to each other over their sockets: short messages of one size, with
 * descriptors beside them. Functions return 0 or a negative errno.
 */
#ifndef CORE_SOFT_PEER_MESSAGE_H
#define CORE_SOFT_PEER_MESSAGE_H

#include <stdint.h>

#define SOFT_MESSAGE_MAGIC 0x766d736d /* "vmsm" */

enum {
	SOFT_MESSAGE_FDS = 3,
};

enum soft_message_kind {
	SOFT_MESSAGE_HELLO = 1, /* slot and generation; the answer brings arena, doorbell, memory */
	SOFT_MESSAGE_CHANNEL,   /* a completion channel's eventfd */
	SOFT_MESSAGE_CHANNEL_GONE,
	SOFT_MESSAGE_CONNECTION, /* what follows is a connection's of rdma_cm */
	SOFT_MESSAGE_COPY,       /* what follows is for the copy server */
};

struct soft_message {
	uint32_t magic;
	uint32_t kind;
	uint32_t slot; /* of a channel: its number */
	uint32_t generation;
};

/* Sends without waiting; descriptors from the first on that is -1 are left out. */
int soft_message_send(int socket, const struct soft_message *message,
		      const int fd[static SOFT_MESSAGE_FDS]);

/*
 * Receives without waiting: -EAGAIN if there is no message, -ECONNRESET at the end, -EPROTO if it
 * is malformed or its descriptors did not all arrive, as in a process that has too many open.
 * Missing descriptors are -1.
 */
int soft_message_receive(int socket, struct soft_message *message, int fd[static SOFT_MESSAGE_FDS]);

#endif
