/* SPDX-License-Identifier: MIT */
/*
 * Messages between client and server of a pool, sent by SEND in network byte order. Each
 * has 40 bytes: type, status, size, address, rkey and every, of 4, 4, 8, 8, 4 and 4 bytes,
 * and 8 zero bytes. A client has one request outstanding, and each request has one answer.
 * A server that reports an error without a request sends POOL_REFUSED.
 */
#ifndef CORE_POOL_MESSAGE_H
#define CORE_POOL_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#define POOL_MESSAGE 40

enum pool_type {
	POOL_REQ_ALLOC = 1,  /* size bytes; every n-th write rings */
	POOL_RESP_ALLOC = 2, /* address, rkey and size of the grant, or a status */
	POOL_REQ_FREE = 3,   /* the grant at that address */
	POOL_RESP_FREE = 4,
	POOL_REQ_SYNC = 5, /* answered after all earlier doorbells */
	POOL_RESP_SYNC = 6,
	POOL_REFUSED = 7, /* status is the reason: invalid request, or time limit */
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

/*
 * Decodes a message without checking its fields. Returns -EPROTO if its length is wrong or
 * its zero bytes are not zero.
 */
int pool_decode(struct pool_message *message, const uint8_t *bytes, size_t length);

/* Returns the reason as text. */
const char *pool_status_text(uint32_t status);

#endif
