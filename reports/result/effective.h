/* SPDX-License-Identifier: MIT */
/*
 * The values in effect at the client or server of a case: what the device granted, the attributes
 * of connected queue pairs, how work requests were posted. Each member is a number, a flag, a
 * word or a text, or unknown. In a zeroed struct all are unknown.
 */
#ifndef REPORTS_RESULT_EFFECTIVE_H
#define REPORTS_RESULT_EFFECTIVE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"

enum effective_member {
	EFFECTIVE_POST_CALL, /* a word: enum effective_post_call */
	EFFECTIVE_INLINE,    /* a flag */
	EFFECTIVE_INLINE_LIMIT_BYTES,
	EFFECTIVE_SEND_DEPTH,
	EFFECTIVE_RECEIVE_DEPTH,
	EFFECTIVE_SHARED_RECEIVE_DEPTH,
	EFFECTIVE_CQ_DEPTH,
	EFFECTIVE_INITIATOR_DEPTH,
	EFFECTIVE_RESPONDER_DEPTH,
	EFFECTIVE_PATH_MTU_BYTES,
	EFFECTIVE_GID_INDEX,
	EFFECTIVE_GID_TYPE, /* a word: enum effective_gid_type */
	EFFECTIVE_PKEY_INDEX,
	EFFECTIVE_SL,
	EFFECTIVE_PATH_BITS,
	EFFECTIVE_TRAFFIC_CLASS,
	EFFECTIVE_FLOW_LABEL,
	EFFECTIVE_HOP_LIMIT,
	EFFECTIVE_ACK_TIMEOUT_NS,
	EFFECTIVE_RETRIES,
	EFFECTIVE_RNR_RETRIES,
	EFFECTIVE_SPIN_NS,
	EFFECTIVE_COMPLETION_VECTOR,
	EFFECTIVE_PAGE_BYTES,
	EFFECTIVE_BUFFER_BYTES,
	EFFECTIVE_PLACES, /* message slots per queue pair, if there are several */
	EFFECTIVE_MEMBERS,
};

enum effective_post_call {
	EFFECTIVE_IBV_POST_SEND,
	EFFECTIVE_IBV_WR,
};

enum effective_gid_type {
	EFFECTIVE_GID_IB,
	EFFECTIVE_GID_ROCE_V1,
	EFFECTIVE_GID_ROCE_V2,
};

/* Facts about the memory of the buffer. */
enum effective_text {
	EFFECTIVE_MEMORY_PATH,   /* how the device reaches it */
	EFFECTIVE_MEMORY_OWNER,  /* the device that has it */
	EFFECTIVE_MEMORY_DRIVER, /* of that device */
	EFFECTIVE_MEMORY_PCIE,   /* address of that device */
	EFFECTIVE_TEXTS,
};

#define EFFECTIVE_TEXT 64

struct effective {
	uint64_t value[EFFECTIVE_MEMBERS]; /* 0 if unknown */
	bool is_known[EFFECTIVE_MEMBERS];
	char text[EFFECTIVE_TEXTS][EFFECTIVE_TEXT]; /* empty if unknown */
};

void effective_set(struct effective *chosen, enum effective_member member, uint64_t value);
void effective_set_text(struct effective *chosen, enum effective_text member, const char *text);

bool effective_is_any(const struct effective *chosen);

/* Returns an object of the known members; NULL if none is known or memory runs out. */
json_t *effective_encode(const struct effective *chosen);

/*
 * Sets all valid members of json. Invalid members stay unknown; the first of them is reported as
 * the error.
 */
int effective_decode(struct effective *chosen, const json_t *json, struct error *error);

/* Keeps the members that are equal in both; the others become unknown. */
void effective_merge(struct effective *into, const struct effective *from);

#endif
