/* SPDX-License-Identifier: MIT */
/* A provider that records the requests it receives. They are the same for both interfaces. */
#ifndef CORE_TEST_LIB_SEEN_H
#define CORE_TEST_LIB_SEEN_H

#include "core/verbs/post.h"

#define SEEN_MAX 16

/* A request independent of the interface. Compared as bytes, so it has no padding. */
struct seen {
	uint64_t id;
	uint64_t remote;
	uint64_t compare_add;
	uint64_t swap;
	struct ibv_ah *ah;
	uint64_t address;
	unsigned int flags;
	enum ibv_wr_opcode opcode;
	uint32_t rkey;
	uint32_t imm; /* in network byte order */
	uint32_t qpn;
	uint32_t qkey; /* or the low bits of a key of DC */
	uint32_t length;
	uint32_t lkey;
	uint64_t srqn; /* 64 bits, so that the struct has no padding */
};

extern struct seen seen[SEEN_MAX];
extern size_t seen_count;
extern size_t seen_starts;
extern size_t seen_calls; /* of the provider, for one request or several */

extern struct ibv_context seen_context;
extern struct ibv_qp_ex seen_qpx;
/* Queues with both interfaces, and with the classic one alone. */
extern const struct post_queue seen_queue;
extern const struct post_queue seen_classic;
/* The initiator of DC, or NULL in a build without it. */
extern void *const seen_initiator;

/* Forgets all requests. A setup function of cmocka. */
int seen_forget(void **unused);

#endif
