/* SPDX-License-Identifier: MIT */
#include "core/rdma/send_header.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define MESSAGE_MAGIC 0x56424d53 /* VBMS */

struct head {
	uint32_t magic;
	uint32_t kind;
	uint64_t length;
	uint64_t offset;
};

_Static_assert(sizeof(struct head) == SEND_HEADER_SIZE, "no padding on the wire");

void send_header_encode(uint8_t head[static SEND_HEADER_SIZE], const struct rdma_message *message)
{
	const struct head wire = {
		.magic = htobe32(MESSAGE_MAGIC),
		.kind = htobe32(message->kind),
		.length = htobe64(message->length),
		.offset = htobe64(message->offset),
	};

	memcpy(head, &wire, sizeof(wire));
}

int send_header_decode(struct rdma_message *message, const uint8_t head[static SEND_HEADER_SIZE],
		       uint32_t bytes, struct error *error)
{
	struct head wire;
	uint32_t kind;
	uint64_t length;

	if (bytes < sizeof(wire))
		return error_set(error, -EPROTO, "message of %u bytes has no header", bytes);
	memcpy(&wire, head, sizeof(wire));
	kind = be32toh(wire.kind);
	length = be64toh(wire.length);
	if (be32toh(wire.magic) != MESSAGE_MAGIC || kind < RDMA_MESSAGE_DATA ||
	    kind > RDMA_MESSAGE_READ)
		return error_set(error, -EPROTO, "message with an unknown header");
	if (bytes - sizeof(wire) != (kind == RDMA_MESSAGE_DATA ? length : 0))
		return error_set(error, -EPROTO, "message of %u bytes whose header says %" PRIu64,
				 bytes, length);
	*message = (struct rdma_message){.kind = (enum rdma_message_kind)kind,
					 .length = length,
					 .offset = be64toh(wire.offset)};
	return 0;
}
