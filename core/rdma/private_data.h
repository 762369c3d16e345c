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

#define PRIVATE_DATA_VERSION  1
#define PRIVATE_DATA_GREETING 32
#define PRIVATE_DATA_REFUSAL  148
/* Behind the greeting of a client to a server that wants one. */
#define PRIVATE_DATA_TICKET 16

/* Writes the greeting. Returns its length. */
size_t private_data_greet(uint8_t data[static PRIVATE_DATA_GREETING],
			  const struct rdma_remote *own);

/*
 * Reads the other end's greeting. -EPROTO: it is not ours; -EPROTONOSUPPORT: it is
 * of another version.
 */
int private_data_read(struct rdma_remote *remote, const void *data, size_t length,
		      struct error *error);

/* Writes a ticket behind the greeting. Returns the length of both. */
size_t private_data_add_ticket(uint8_t data[static PRIVATE_DATA_GREETING + PRIVATE_DATA_TICKET],
			       const uint8_t ticket[static PRIVATE_DATA_TICKET]);

/* -EACCES: there is none, or another one. In constant time. */
int private_data_check_ticket(const void *data, size_t length,
			      const uint8_t ticket[static PRIVATE_DATA_TICKET],
			      struct error *error);

/* Writes a refusal. Returns its length. */
size_t private_data_refuse(uint8_t data[static PRIVATE_DATA_REFUSAL], const char *reason);

/* The reason in a refusal, or NULL if it is not ours. Text needs PRIVATE_DATA_REFUSAL. */
const char *private_data_reason(char text[static PRIVATE_DATA_REFUSAL], const void *data,
				size_t length);

#endif
