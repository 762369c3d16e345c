/* SPDX-License-Identifier: MIT */
/*
 * A provider without a device, that completes at once: a post puts its completion, if it
 * is signalled, into a ring, and what the other end would do about it has happened when
 * the call returns. No data are moved that no loop looks at. It is asked for as little as
 * can be, and counts what balances, so that a micro-benchmark times what stands above it.
 * One thread uses it; the caller owns the struct.
 */
#ifndef BENCH_MICRO_INSTANT_H
#define BENCH_MICRO_INSTANT_H

#include <infiniband/verbs.h>

#include "core/base/alarm.h"
#include "core/base/compiler.h"

/* A power of two; no bed has more completions under way. */
#define INSTANT_RING 8192

/* What the other end does. */
enum instant_peer {
	INSTANT_ABSENT,  /* nothing */
	INSTANT_ANSWERS, /* each post that takes a receive there brings a message into one here */
	INSTANT_PLACES,  /* the last byte of each post comes back into memory */
	INSTANT_ECHOES,  /* all of its bytes do, and messages as with INSTANT_ANSWERS */
	INSTANT_NOTES,   /* nothing, but it notes where posts go, and come from */
	INSTANT_SENDS,   /* instant_supply: so many messages, as fast as receives are posted */
};

/* Of a page, which is what an area of a bed has. */
#define INSTANT_PLACES_NOTED 64

struct instant_queue {
	struct ibv_qp_ex qpx;
	uint64_t posts;
	uint64_t receives; /* that nothing has come into yet */
	uint64_t receive_id;
	const uint8_t *sent; /* what comes back, where, and how much of it there is */
	uint8_t *received;
	size_t size;
	uint64_t far[INSTANT_PLACES_NOTED];  /* how often each was gone to, */
	uint64_t near[INSTANT_PLACES_NOTED]; /* and came from */
	uint64_t pieces;
};

struct instant {
	struct ibv_context verbs;
	struct ibv_cq cq;
	struct alarm *alarm; /* of INSTANT_SENDS: an empty poll after the last one raises it */
	uint64_t supply;     /* messages that still wait for a receive */
	struct instant_queue *queues;
	unsigned int n_queues;
	uint64_t made; /* completions, and those of them that were polled */
	uint64_t taken;
	uint64_t ids[INSTANT_RING];
};

int instant_open(struct instant *instant, unsigned int n_queues, enum instant_peer peer,
		 struct error *error);
void instant_close(struct instant *instant); /* a zeroed one is fine */

/* So many more messages, of INSTANT_SENDS. */
void instant_supply(struct instant *instant, uint64_t messages);

#endif
