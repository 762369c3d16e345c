/* SPDX-License-Identifier: MIT */
#include "core/pool/message.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "core/base/compiler.h"

/* As it travels. */
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
		[POOL_ZERO] = "nothing was asked for: at least one byte",
		[POOL_TOO_LARGE] =
			"that is more than the whole pool: ask for less, or for a larger 'serve --pool' there",
		[POOL_EXHAUSTED] = "the pool has not so much left in one piece: come back later",
		[POOL_NO_REGION] = "the server's device registers no more memory: come back later",
		[POOL_NO_GRANT] = "this client has no grant there",
		[POOL_INSIDE] = "a grant is given back at the address where it begins",
		[POOL_NO_BELL] = "a doorbell was rung without a grant that it could tell of",
		[POOL_MALFORMED] = "this is no request of a pool",
		[POOL_HELD] = "the server's device does not let go of it",
		[POOL_SHARE] =
			"that is more than one client may have: give some back, or a larger 'serve --pool-share' there",
		[POOL_TIME] =
			"the time that a client is served is over: 'serve --max-time' there gives more",
		[POOL_OUT_OF_TURN] = "a doorbell was rung that is not the next one of its grant",
	};

	return status < ARRAY_LENGTH(texts) ? texts[status] : "for a reason of another version";
}
