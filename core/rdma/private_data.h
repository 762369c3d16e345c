/* SPDX-License-Identifier: MIT */
/*
 * What travels in the private data of a connection, in network byte order: the
 * greeting that both ends send with connect and accept, and the refusal that
 * comes with a reject. The CM pads private data and reports its maximum, so each
 * carries a length of its own. A greeting fits the 56 bytes that connect leaves.
 */
#ifndef CORE_RDMA_PRIVATE_DATA_H
#define CORE_RDMA_PRIVATE_DATA_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/rdma/rdma.h"

#define HANDSHAKE_VERSION  1
#define HANDSHAKE_GREETING 32
#define HANDSHAKE_REFUSAL  148
/* Behind the greeting of a client to a server that wants one. */
#define HANDSHAKE_TICKET 16

/* Writes the greeting. Returns its length. */
size_t handshake_greet(uint8_t data[static HANDSHAKE_GREETING], const struct rdma_remote *own);

/*
 * Reads the other end's greeting. -EPROTO: it is not ours; -EPROTONOSUPPORT: it is
 * of another version.
 */
int handshake_read(struct rdma_remote *remote, const void *data, size_t length,
		   struct error *error);

/* Writes a ticket behind the greeting. Returns the length of both. */
size_t handshake_add_ticket(uint8_t data[static HANDSHAKE_GREETING + HANDSHAKE_TICKET],
			    const uint8_t ticket[static HANDSHAKE_TICKET]);

/* -EACCES: there is none, or another one. In constant time. */
int handshake_check_ticket(const void *data, size_t length,
			   const uint8_t ticket[static HANDSHAKE_TICKET], struct error *error);

/* Writes a refusal. Returns its length. */
size_t handshake_refuse(uint8_t data[static HANDSHAKE_REFUSAL], const char *reason);

/* The reason in a refusal, or NULL if it is not ours. Text needs HANDSHAKE_REFUSAL. */
const char *handshake_reason(char text[static HANDSHAKE_REFUSAL], const void *data, size_t length);

#endif
