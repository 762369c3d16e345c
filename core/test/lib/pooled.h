/* SPDX-License-Identifier: MIT */
/*
 * A pool's server in a thread of its own, and clients in the test's: each call fails the test
 * when it does not what it is for.
 */
#ifndef CORE_TEST_LIB_POOLED_H
#define CORE_TEST_LIB_POOLED_H

#include "core/pool/client.h"
#include "core/pool/server.h"

#define POOL_BYTES  (4U << 20)
#define PAGE_BYTES  4096UL
#define PATIENCE_MS 20000

extern struct pool_server pooled_server;

/* 0: one client may have all of it. */
void pooled_start(enum rdma_wait_mode wait, uint32_t receives, uint64_t share);

/* When all clients have gone: all that was granted has been taken back. */
void pooled_stop(void);

/* A teardown: after a test that has failed. */
int pooled_end(void **unused);

/* Keeps the server from going on with what it tells next. */
void pooled_hold(void);
void pooled_let_go(void);

/* What the server has told of its clients. */
unsigned int pooled_count(enum pool_event event);
void pooled_wait_for(enum pool_event event, unsigned int wanted);

void pooled_client(struct pool_client *client);
void pooled_allocate(struct pool_client *client, uint64_t size, uint32_t every);
void pooled_release(struct pool_client *client, uint64_t place);
void pooled_refused(struct pool_client *client, uint64_t size, enum pool_status status);
void pooled_not_freed(struct pool_client *client, uint64_t place, enum pool_status status);

/* Values by which all is rung that is due are those that the server hears, in their order. */
void pooled_ring(struct pool_client *client, unsigned int writes, uint64_t seed);

#endif
