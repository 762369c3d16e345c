/* SPDX-License-Identifier: MIT */
/*
 * The pool of 'verbmark serve --pool': runs its server in a thread and prints its clients' events.
 * If a file is named, doorbell numbers and values are also written to it. A failure that affects
 * all clients ends them, and the server starts again. At the end, prints totals and how often
 * messages arrived without a receive.
 */
#ifndef BENCH_SERVER_POOL_H
#define BENCH_SERVER_POOL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "bench/control/allowed_networks.h"
#include "bench/server/receive_misses.h"
#include "core/pool/server.h"

struct serve_pool_wish {
	uint64_t size;     /* 0: no pool */
	uint64_t share;    /* maximum per client; 0: all of it */
	uint64_t wait;     /* enum rdma_wait_mode: RDMA_POLL or RDMA_EVENT */
	uint64_t receives; /* 0: the default */
	uint64_t clients;  /* at once; 0: the default */
	const char *dump;  /* file for doorbells, or NULL */
};

struct serve_pool {
	struct pool_settings settings;
	char device[IBV_SYSFS_NAME_MAX];
	char address[ADDRESS_TEXT];
	struct pool_server server; /* zeroed: no pool */
	const struct allowed_networks *allowed;
	FILE *dump;
	unsigned int n_events[POOL_EVENTS]; /* by kind */
	uint64_t n_low;                     /* of earlier servers, before a restart */
	uint64_t n_unread;  /* lines dropped since the last printed one, because stdout was full, */
	uint64_t unread_ns; /* and when the last one was dropped */
	struct receive_misses missed;
	pthread_t thread;
	pthread_mutex_t lock; /* held while the server is replaced */
	bool is_ending;       /* protected by lock */
	bool is_on;
	int ended; /* eventfd, readable once the thread has ended; 0: none */
	struct error reason;
};

/* Listens on an rdma_cm port, at one address or at all addresses of a device. */
int serve_pool_open(struct serve_pool *pooling, const struct serve_pool_wish *wish,
		    const struct pool_settings *settings, struct error *error);

/* Prints where the pool is, and starts its thread. */
int serve_pool_start(struct serve_pool *pooling, struct error *error);

/* Readable once the pool has failed; serve_pool_reason returns why. -1: there is no pool. */
int serve_pool_fd(const struct serve_pool *pooling);
int serve_pool_reason(struct serve_pool *pooling, struct error *error);

/* Stops the pool and prints the totals. Does nothing if zeroed. */
void serve_pool_stop(struct serve_pool *pooling);

/* Option parsers. */
const char *serve_pool_parse_size(const char *text, void *field);
const char *serve_pool_parse_wait(const char *text, void *field);
const char *serve_pool_parse_receives(const char *text, void *field);
const char *serve_pool_parse_clients(const char *text, void *field);

#endif
