/* SPDX-License-Identifier: MIT */
/*
 * The limits of a server: the number of clients, and the resources of one client and of all
 * together. A case is checked before anything of it is allocated. If it exceeds the limit of a
 * client, it is unsupported (-EOPNOTSUPP); if other clients use too much, it may succeed later
 * (-EBUSY). Limits are const while there are clients; the counts are atomic.
 */
#ifndef BENCH_SERVER_QUOTA_H
#define BENCH_SERVER_QUOTA_H

#include <stdatomic.h>

#include "bench/control/protocol.h"

#define QUOTA_CLIENTS_MOST 4096
/* Maximum number of connections that have not authenticated; they do not count as clients. */
#define QUOTA_STRANGERS 64

struct quota {
	unsigned int clients;
	uint64_t queue_pairs;   /* per client */
	uint64_t message_bytes; /* per message */
	uint64_t client_memory; /* per client; 0: no limit of its own */
	uint64_t memory;        /* of all clients */
	unsigned int time_ms;   /* that a client may stay connected */
	unsigned int pause_ms;  /* that a client may stay idle between cases */
	uint64_t connected;     /* queue pairs connected by rdma_cm, of all clients */
	uint64_t threads; /* of all clients' cases, including the thread that each client has */
	atomic_uint_least64_t taken; /* bytes of memory in use */
	atomic_uint_least64_t n_connected;
	atomic_uint_least64_t n_threads;
};

/* The part that one case uses. Zeroed: nothing. */
struct quota_share {
	uint64_t bytes;
	uint64_t connected;
	uint64_t threads;
};

/*
 * Sets default limits: half of the memory that the machine and the control groups allow, the number
 * of queue pairs that descriptors and ports allow, and otherwise enough for any usual run. root is
 * a prefix of /proc and /sys, for tests; normally empty.
 */
void quota_init(struct quota *quota, const char *root);

/* Sets the maximum number of threads. Call it once quota->clients is final. */
void quota_find_threads(struct quota *quota, const char *root);

/*
 * Checks a case against the limits and, if it fits, counts its share, returned in *taken. The
 * memory is a generous estimate of buffers, queues and completion queues. *taken may already hold
 * memory, but no queue pairs or threads. That memory stays taken throughout, even if the case is
 * rejected. A case that needs less keeps all of it.
 */
int quota_take(struct quota *quota, const struct protocol_case *wanted, struct quota_share *taken,
	       struct error *error);
/* Returns the estimated memory of a case. */
uint64_t quota_bytes(const struct protocol_case *wanted);
void quota_give(struct quota *quota, struct quota_share *taken);
/* Returns queue pairs, threads, and all memory above `kept` bytes. */
void quota_keep(struct quota *quota, struct quota_share *taken, uint64_t kept);

/* Option parsers. They reject zero and values that are too large. */
const char *quota_parse_clients(const char *text, void *field);
const char *quota_parse_queue_pairs(const char *text, void *field);
const char *quota_parse_size(const char *text, void *field);
const char *quota_parse_time(const char *text, void *field);

#endif
