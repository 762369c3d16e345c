/* SPDX-License-Identifier: MIT */
/*
 * What one end of a case really had: what its device granted, what its queue pairs were
 * connected with, how it posted. Each member is a number, a flag or one of its words,
 * and may be unknown; of a zeroed struct all are.
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
	EFFECTIVE_SL,
	EFFECTIVE_TRAFFIC_CLASS,
	EFFECTIVE_ACK_TIMEOUT_NS,
	EFFECTIVE_RETRIES,
	EFFECTIVE_RNR_RETRIES,
	EFFECTIVE_SPIN_NS,
	EFFECTIVE_COMPLETION_VECTOR,
	EFFECTIVE_PAGE_BYTES,
	EFFECTIVE_BUFFER_BYTES,
	EFFECTIVE_PLACES, /* of each queue pair, where messages go to several */
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

struct effective {
	uint64_t value[EFFECTIVE_MEMBERS]; /* 0 where it is not known */
	bool is_known[EFFECTIVE_MEMBERS];
};

void effective_set(struct effective *chosen, enum effective_member member, uint64_t value);

bool effective_is_any(const struct effective *chosen);

/* An object of what is known; NULL where nothing is, or there is no memory. */
json_t *effective_encode(const struct effective *chosen);

/*
 * Takes what json has of it; the first member that is not as it should be is an error,
 * and unknown like every such.
 */
int effective_decode(struct effective *chosen, const json_t *json, struct error *error);

/* Leaves what is the same in both. */
void effective_merge(struct effective *into, const struct effective *from);

#endif
