/* SPDX-License-Identifier: MIT */
#include "core/pool/message.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "core/base/compiler.h"

/* Layout on the wire. */
struct layout {
	uint32_t type;
	uint32_t status;
	uint64_t size;
	uint64_t address;
	uint32_t rkey;
	uint32_t every;
	uint64_t zero;
};

_Static_assert(sizeof(struct layout) == POOL_MESSAGE, "a control message has no gaps");

void pool_encode(const struct pool_message *message, uint8_t bytes[static POOL_MESSAGE])
{
	const struct layout layout = {
		.type = htobe32(message->type),
		.status = htobe32(message->status),
		.size = htobe64(message->size),
		.address = htobe64(message->address),
		.rkey = htobe32(message->rkey),
		.every = htobe32(message->every),
	};

	memcpy(bytes, &layout, sizeof(layout));
}

int pool_decode(struct pool_message *message, const uint8_t *bytes, size_t length)
{
	struct layout layout;

	if (length != sizeof(layout))
		return -EPROTO;
	memcpy(&layout, bytes, sizeof(layout));
	*message = (struct pool_message){
		.type = be32toh(layout.type),
		.status = be32toh(layout.status),
		.size = be64toh(layout.size),
		.address = be64toh(layout.address),
		.rkey = be32toh(layout.rkey),
		.every = be32toh(layout.every),
	};
	return layout.zero ? -EPROTO : 0;
}

const char *pool_status_text(uint32_t status)
{
	static const char *const texts[POOL_STATUSES] = {
		[POOL_OK] = "granted",
		[POOL_ZERO] = "the requested size is 0; request at least one byte",
		[POOL_TOO_LARGE] =
			"the request exceeds the whole pool; raise 'serve --pool' on the server",
		[POOL_EXHAUSTED] = "the pool has no free range of that size; retry later",
		[POOL_NO_REGION] = "the server's device cannot register more memory; retry later",
		[POOL_NO_GRANT] = "this client has no grant at that address",
		[POOL_INSIDE] =
			"the address is inside a grant; free the grant by its start address",
		[POOL_NO_BELL] = "a doorbell was rung without a grant that has doorbells",
		[POOL_MALFORMED] = "the request is malformed",
		[POOL_HELD] = "the server's device does not release the memory",
		[POOL_SHARE] =
			"the request exceeds the client's share; raise 'serve --pool-share' there",
		[POOL_TIME] =
			"the client's time limit is over; raise 'serve --max-time' on the server",
		[POOL_OUT_OF_TURN] = "a doorbell was rung out of order",
	};

	return status < ARRAY_LENGTH(texts) ? texts[status]
					    : "unknown reason, sent by another version";
}
