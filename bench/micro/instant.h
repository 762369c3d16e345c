/* SPDX-License-Identifier: MIT */
/*
 * A provider without a device that completes everything at once: a signaled post puts its
 * completion into a ring, and whatever the peer would do has happened when the call returns. Only
 * data that some loop looks at is moved. The provider does as little as possible besides counting,
 * so that a micro-benchmark measures the code above it. Not thread-safe; the caller owns the
 * struct.
 */
#ifndef BENCH_MICRO_INSTANT_H
#define BENCH_MICRO_INSTANT_H

#include <infiniband/verbs.h>

#include "core/base/alarm.h"
#include "core/base/compiler.h"

/* A power of two. No bed has more completions outstanding. */
#define INSTANT_RING 8192

/* Behavior of the peer. */
enum instant_peer {
	INSTANT_ABSENT,  /* nothing */
	INSTANT_ANSWERS, /* each post that consumes a receive is answered by a message */
	INSTANT_PLACES,  /* the last byte of each post is echoed to memory */
	INSTANT_ECHOES,  /* all bytes are echoed, and messages answered as with INSTANT_ANSWERS */
	INSTANT_NOTES,   /* nothing, but counts the addresses of posts */
	INSTANT_SENDS,   /* sends the messages of instant_supply, as fast as receives are posted */
};

/* Places in a page, the size of a bed's area. */
#define INSTANT_PLACES_NOTED 64

struct instant_queue {
	struct ibv_qp_ex qpx;
	uint64_t posts;
	uint64_t receives; /* posted and not yet consumed */
	uint64_t receive_id;
	const uint8_t *sent; /* source, destination and size of the echo */
	uint8_t *received;
	size_t size;
	uint64_t remote_visits[INSTANT_PLACES_NOTED]; /* visits of each remote place */
	uint64_t local_visits[INSTANT_PLACES_NOTED];  /* visits of each local place */
	uint64_t pieces;
};

struct instant {
	struct ibv_context verbs;
	struct ibv_cq cq;
	struct alarm
		*alarm;  /* INSTANT_SENDS: raised by the first empty poll after the last message */
	uint64_t supply; /* messages still waiting for a receive */
	struct instant_queue *queues;
	unsigned int n_queues;
	uint64_t made; /* completions generated, and those polled */
	uint64_t taken;
	uint64_t ids[INSTANT_RING];
};

int instant_open(struct instant *instant, unsigned int n_queues, enum instant_peer peer,
		 struct error *error);
void instant_close(struct instant *instant); /* accepts a zeroed struct */

/* Adds that many messages for INSTANT_SENDS. */
void instant_supply(struct instant *instant, uint64_t messages);

#endif
