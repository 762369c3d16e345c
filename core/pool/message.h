/* SPDX-License-Identifier: MIT */
/*
 * What client and server of a pool say to each other by SEND, in network byte order, 40
 * bytes each: type, status, size, address, rkey and every, which are 4, 4, 8, 8, 4 and 4
 * bytes long, and 8 that are zero. The client asks one thing at a time, and each request has
 * one answer. A server that has something to say unasked says POOL_REFUSED.
 */
#ifndef CORE_POOL_MESSAGE_H
#define CORE_POOL_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#define POOL_MESSAGE 40

enum pool_type {
	POOL_REQ_ALLOC = 1,  /* size bytes, of which each every-th write rings */
	POOL_RESP_ALLOC = 2, /* address, rkey and size of the grant; or why not */
	POOL_REQ_FREE = 3,   /* the grant at that address */
	POOL_RESP_FREE = 4,
	POOL_REQ_SYNC = 5, /* nothing but the answer, which follows all that was rung before */
	POOL_RESP_SYNC = 6,
	POOL_REFUSED = 7, /* what came that was no request, or any more: status tells why */
};

enum pool_status {
	POOL_OK,
	POOL_ZERO,
	POOL_TOO_LARGE,
	POOL_EXHAUSTED,
	POOL_NO_REGION,
	POOL_NO_GRANT,
	POOL_INSIDE,
	POOL_NO_BELL,
	POOL_MALFORMED,
	POOL_HELD,
	POOL_SHARE,
	POOL_TIME,
	POOL_OUT_OF_TURN,
	POOL_STATUSES
};

struct pool_message {
	uint32_t type;
	uint32_t status;
	uint64_t size;
	uint64_t address;
	uint32_t rkey;
	uint32_t every;
};

void pool_encode(const struct pool_message *message, uint8_t bytes[static POOL_MESSAGE]);

/* Whatever it says. -EPROTO: it is none, by its length or by what has to be zero. */
int pool_decode(struct pool_message *message, const uint8_t *bytes, size_t length);

/* A sentence's end: why. */
const char *pool_status_text(uint32_t status);

#endif
