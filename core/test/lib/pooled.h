/* SPDX-License-Identifier: MIT */
/*
 * A pool server in a thread of its own, and clients in the test's thread. Each call fails
 * the test on error.
 */
#ifndef CORE_TEST_LIB_POOLED_H
#define CORE_TEST_LIB_POOLED_H

#include "core/pool/client.h"
#include "core/pool/server.h"

#define POOL_BYTES  (4U << 20)
#define PAGE_BYTES  4096UL
#define PATIENCE_MS 20000

extern struct pool_server pooled_server;

/* Starts the server. share 0: one client may have the whole pool. */
void pooled_start(enum rdma_wait_mode wait, uint32_t receives, uint64_t share);

/* Waits until all clients have left, checks that all grants are freed, and stops the server. */
void pooled_stop(void);

/* A cmocka teardown, for tests that have failed. */
int pooled_end(void **unused);

/* Block the server in its next report, and release it. */
void pooled_hold(void);
void pooled_let_go(void);

/* Return the number of reports of an event; wait until it is at least that. */
unsigned int pooled_count(enum pool_event event);
void pooled_wait_for(enum pool_event event, unsigned int wanted);

void pooled_client(struct pool_client *client);
void pooled_allocate(struct pool_client *client, uint64_t size, uint32_t every);
void pooled_release(struct pool_client *client, uint64_t place);
void pooled_refused(struct pool_client *client, uint64_t size, enum pool_status status);
void pooled_not_freed(struct pool_client *client, uint64_t place, enum pool_status status);

/*
 * Makes writes, and checks that the server reports every due doorbell with its value, in
 * order.
 */
void pooled_ring(struct pool_client *client, unsigned int writes, uint64_t seed);

#endif
