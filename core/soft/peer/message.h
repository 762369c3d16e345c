/* SPDX-License-Identifier: MIT */
/*
 * Messages between processes over their sockets: short, of fixed size, with descriptors attached.
 * Functions return 0 or a negative errno.
 */
#ifndef CORE_SOFT_PEER_MESSAGE_H
#define CORE_SOFT_PEER_MESSAGE_H

#include <stdint.h>

#define SOFT_MESSAGE_MAGIC 0x766d736d /* "vmsm" */

enum {
	SOFT_MESSAGE_FDS = 3,
};

enum soft_message_kind {
	SOFT_MESSAGE_HELLO = 1, /* the answer carries arena, doorbell and memory table */
	SOFT_MESSAGE_CHANNEL,   /* a completion channel's eventfd */
	SOFT_MESSAGE_CHANNEL_GONE,
	SOFT_MESSAGE_CONNECTION, /* an rdma_cm connection follows */
	SOFT_MESSAGE_COPY,       /* requests to the copy server follow */
};

struct soft_message {
	uint32_t magic;
	uint32_t kind;
	uint32_t slot; /* for a channel: its number */
	uint32_t generation;
};

/* Sends without waiting. The first descriptor that is -1 ends the list. */
int soft_message_send(int socket, const struct soft_message *message,
		      const int fd[static SOFT_MESSAGE_FDS]);

/*
 * Receives without waiting. Returns -EAGAIN if there is no message, -ECONNRESET at end of file, and
 * -EPROTO if the message is malformed or some of its descriptors did not arrive (for example,
 * because this process has too many open). Missing descriptors are -1.
 */
int soft_message_receive(int socket, struct soft_message *message, int fd[static SOFT_MESSAGE_FDS]);

#endif
