/* SPDX-License-Identifier: MIT */
/*
 * Private data of a connection, in network byte order: the greeting that both sides send
 * with connect and accept, and the refusal sent with a reject. The CM pads private data and
 * reports its maximum length, so each message carries its own length. A greeting fits in
 * the 56 bytes available in a connect request.
 */
#ifndef CORE_RDMA_PRIVATE_DATA_H
#define CORE_RDMA_PRIVATE_DATA_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/rdma/rdma.h"

#define PRIVATE_DATA_VERSION  1
#define PRIVATE_DATA_GREETING 32
#define PRIVATE_DATA_REFUSAL  148
/* Follows the greeting of a client, if the server requires it. */
#define PRIVATE_DATA_TICKET 16

/* Writes the greeting. Returns its length. */
size_t private_data_greet(uint8_t data[static PRIVATE_DATA_GREETING],
			  const struct rdma_remote *own);

/*
 * Reads the peer's greeting. Returns -EPROTO if it is not a verbmark greeting, or
 * -EPROTONOSUPPORT if it has another version.
 */
int private_data_read(struct rdma_remote *remote, const void *data, size_t length,
		      struct error *error);

/* Appends a ticket to the greeting. Returns their total length. */
size_t private_data_add_ticket(uint8_t data[static PRIVATE_DATA_GREETING + PRIVATE_DATA_TICKET],
			       const uint8_t ticket[static PRIVATE_DATA_TICKET]);

/* Compares the ticket in constant time. Returns -EACCES if it is missing or wrong. */
int private_data_check_ticket(const void *data, size_t length,
			      const uint8_t ticket[static PRIVATE_DATA_TICKET],
			      struct error *error);

/* Writes a refusal. Returns its length. */
size_t private_data_refuse(uint8_t data[static PRIVATE_DATA_REFUSAL], const char *reason);

/* Returns the reason in a refusal, copied to text, or NULL if data is not a verbmark refusal. */
const char *private_data_reason(char text[static PRIVATE_DATA_REFUSAL], const void *data,
				size_t length);

#endif
