/* SPDX-License-Identifier: MIT */
/*
 * A client of a pool: connects, gets a grant of memory, writes 32-bit values into its slots
 * in turn, and rings doorbells: every n-th write is signaled and carries the doorbell's
 * number, from 1, as immediate data. The client reuses a slot only after the server has
 * handled all earlier doorbells. Functions return 0 or a negative errno with the error set;
 * after any failure other than a refusal (-EACCES), only pool_client_close may be called. A
 * client belongs to one thread.
 */
#ifndef CORE_POOL_CLIENT_H
#define CORE_POOL_CLIENT_H

#include "core/base/error.h"
#include "core/pool/message.h"
#include "core/rdma/rdma.h"

struct pool_client {
	struct rdma_context context;
	struct pool_message grant; /* size 0: none */
	struct pool_message answer;
	bool has_answer;
	uint32_t refusal;          /* enum pool_status of an unsolicited refusal; POOL_OK: none */
	bool is_sending;           /* a request is outstanding */
	bool is_writing;           /* a signaled write is outstanding */
	unsigned int n_unsignaled; /* since the last signaled one */
	uint64_t written;
	uint32_t rung;
};

struct pool_client_settings {
	const char *host;
	const char *device; /* NULL: the device that leads to host */
	uint16_t port;
	size_t own_size; /* bytes of local memory for the caller's own posts; 0: the minimum */
	enum rdma_wait_mode wait;
};

int pool_client_open(struct pool_client *client, const struct pool_client_settings *settings,
		     struct error *error);
int pool_client_close(struct pool_client *client); /* a zeroed one is fine */

/* Returns the size of the server's pool in bytes. */
uint64_t pool_client_size(const struct pool_client *client);

/*
 * Requests a grant, stored in client->grant. Writes go to the newest grant. every is the
 * number of writes per doorbell; 0: no doorbells.
 */
int pool_client_alloc(struct pool_client *client, uint64_t size, uint32_t every,
		      struct error *error);
int pool_client_free(struct pool_client *client, uint64_t address, struct error *error);

/*
 * Writes the next value. If the write rings a doorbell, waits for its completion;
 * client->rung counts the doorbells.
 */
int pool_client_write(struct pool_client *client, uint32_t value, struct error *error);

/* Waits until all writes are complete and the server has handled all doorbells. */
int pool_client_sync(struct pool_client *client, struct error *error);

#endif
