/* SPDX-License-Identifier: MIT */
/*
 * What a server gives its clients: how many there are at once, and what one of them, and
 * all together, may take. A case is held against it before anything of it is made; what
 * is above a client's limit is no case for this server (-EOPNOTSUPP), what others have
 * taken may be free later (-EBUSY). Limits are const while there are clients; the counts
 * are for any thread.
 */
#ifndef BENCH_SERVER_QUOTA_H
#define BENCH_SERVER_QUOTA_H

#include <stdatomic.h>

#include "bench/control/protocol.h"

#define QUOTA_CLIENTS_MOST 4096
/* Connections that have not greeted yet: they take nobody's place. */
#define QUOTA_STRANGERS 64

struct quota {
	unsigned int clients;
	uint64_t queue_pairs;   /* of one client */
	uint64_t message_bytes; /* of one message */
	uint64_t client_memory; /* 0: all that there is */
	uint64_t memory;        /* of all clients */
	unsigned int time_ms;   /* of one client */
	unsigned int pause_ms;  /* that one says nothing, between cases */
	uint64_t connected;     /* queue pairs of all clients that rdma_cm connects */
	uint64_t threads; /* of all clients' cases, with those that clients have by themselves */
	atomic_uint served;
	atomic_uint_least64_t taken; /* of the memory, */
	atomic_uint_least64_t n_connected;
	atomic_uint_least64_t n_threads;
};

/* Of them, what one case has; zeroed: nothing. */
struct quota_share {
	uint64_t bytes;
	uint64_t connected;
	uint64_t threads;
};

/*
 * Half of the memory that the machine and control groups have, what descriptors and ports are
 * enough for, and else what keeps nobody from a usual run. root stands before /proc and /sys: it
 * is empty but for tests.
 */
void quota_init(struct quota *quota, const char *root);

/* How many threads there may be, once it is known for how many clients. */
void quota_find_threads(struct quota *quota, const char *root);

/* One client more, or less. */
int quota_enter(struct quota *quota, struct error *error);
void quota_leave(struct quota *quota);

/*
 * Whether the case may be, and if so its share is counted, in *taken. The memory that a case
 * takes is an estimate, and no low one: buffers, queues, completion queues, and what a client
 * sees. is_server: which end of it this server is.
 */
int quota_take(struct quota *quota, const struct protocol_case *wanted, bool is_server,
	       struct quota_share *taken, struct error *error);
/*
 * The same where the memory in *taken, and nothing else, has been taken already: that is never
 * given back meanwhile, and if the case may not be, it is still there. What takes less has it all.
 */
int quota_take_more(struct quota *quota, const struct protocol_case *wanted, bool is_server,
		    struct quota_share *taken, struct error *error);
/* The memory alone. */
uint64_t quota_bytes(const struct protocol_case *wanted, bool is_server);
void quota_give(struct quota *quota, struct quota_share *taken);
/* Gives all but so much memory. */
void quota_keep(struct quota *quota, struct quota_share *taken, uint64_t kept);

/* Parsers of options: what is zero, or too much, is refused. */
const char *quota_parse_clients(const char *text, void *field);
const char *quota_parse_queue_pairs(const char *text, void *field);
const char *quota_parse_size(const char *text, void *field);
const char *quota_parse_time(const char *text, void *field);

#endif
