/* SPDX-License-Identifier: MIT */
/*
 * The pool of 'verbmark serve --pool': its server, in a thread of its own, and what it prints
 * of its clients. The numbers and values of doorbells go to a file besides, if one is named.
 * What fails for all of its clients at once ends them, and it begins again without any. In the
 * end it says what there was, and how often what came found no receive.
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
	uint64_t share;    /* of one client; 0: all of it */
	uint64_t wait;     /* enum rdma_wait_mode: RDMA_POLL or RDMA_EVENT */
	uint64_t receives; /* 0: the default */
	uint64_t clients;  /* at once; 0: the default */
	const char *dump;  /* a file, or NULL */
};

struct serve_pool {
	struct pool_settings settings;
	char device[IBV_SYSFS_NAME_MAX];
	char address[ADDRESS_TEXT];
	struct pool_server server; /* zeroed: there is none */
	const struct allowed_networks *allowed;
	FILE *dump;
	unsigned int told[POOL_EVENTS]; /* of each event, how many */
	uint64_t n_low;                 /* of servers before this one */
	uint64_t n_unread;              /* lines that nobody made room for, since the last one, */
	uint64_t unread_ns;             /* and when that was */
	struct receive_misses missed;
	pthread_t thread;
	pthread_mutex_t lock; /* while the server is another */
	bool is_ending;       /* with that held */
	bool is_on;
	int ended; /* an eventfd: the thread is over; 0: there is none */
	struct error reason;
};

/* Listens on that port of rdma_cm, at an address or all of a device. */
int serve_pool_open(struct serve_pool *pooling, const struct serve_pool_wish *wish,
		    const struct pool_settings *settings, struct error *error);

/* Says where it is, and begins. */
int serve_pool_start(struct serve_pool *pooling, struct error *error);

/* Readable when it has ended by itself, which serve_pool_reason tells; -1: there is none. */
int serve_pool_fd(const struct serve_pool *pooling);
int serve_pool_reason(struct serve_pool *pooling, struct error *error);

/* A zeroed one is fine. */
void serve_pool_stop(struct serve_pool *pooling);

/* Parsers of options. */
const char *serve_pool_parse_size(const char *text, void *field);
const char *serve_pool_parse_wait(const char *text, void *field);
const char *serve_pool_parse_receives(const char *text, void *field);
const char *serve_pool_parse_clients(const char *text, void *field);

#endif
