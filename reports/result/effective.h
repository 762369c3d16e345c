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

enum chosen_member {
	CHOSEN_POST_CALL, /* a word: enum chosen_post_call */
	CHOSEN_INLINE,    /* a flag */
	CHOSEN_INLINE_LIMIT_BYTES,
	CHOSEN_SEND_DEPTH,
	CHOSEN_RECEIVE_DEPTH,
	CHOSEN_SHARED_RECEIVE_DEPTH,
	CHOSEN_CQ_DEPTH,
	CHOSEN_INITIATOR_DEPTH,
	CHOSEN_RESPONDER_DEPTH,
	CHOSEN_PATH_MTU_BYTES,
	CHOSEN_GID_INDEX,
	CHOSEN_GID_TYPE, /* a word: enum chosen_gid_type */
	CHOSEN_SL,
	CHOSEN_TRAFFIC_CLASS,
	CHOSEN_ACK_TIMEOUT_NS,
	CHOSEN_RETRIES,
	CHOSEN_RNR_RETRIES,
	CHOSEN_SPIN_NS,
	CHOSEN_COMPLETION_VECTOR,
	CHOSEN_PAGE_BYTES,
	CHOSEN_BUFFER_BYTES,
	CHOSEN_PLACES, /* of each queue pair, where messages go to several */
	CHOSEN_MEMBERS,
};

enum chosen_post_call {
	CHOSEN_IBV_POST_SEND,
	CHOSEN_IBV_WR,
};

enum chosen_gid_type {
	CHOSEN_GID_IB,
	CHOSEN_GID_ROCE_V1,
	CHOSEN_GID_ROCE_V2,
};

struct chosen {
	uint64_t value[CHOSEN_MEMBERS]; /* 0 where it is not known */
	bool is_known[CHOSEN_MEMBERS];
};

void chosen_set(struct chosen *chosen, enum chosen_member member, uint64_t value);

bool chosen_is_any(const struct chosen *chosen);

/* An object of what is known; NULL where nothing is, or there is no memory. */
json_t *chosen_encode(const struct chosen *chosen);

/*
 * Takes what json has of it; the first member that is not as it should be is an error,
 * and unknown like every such.
 */
int chosen_decode(struct chosen *chosen, const json_t *json, struct error *error);

/* Leaves what is the same in both. */
void chosen_merge(struct chosen *into, const struct chosen *from);

#endif
