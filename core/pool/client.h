/* SPDX-License-Identifier: MIT */
/*
 * A client of a pool: connects, is granted memory there, writes 32-bit values into it, slot
 * by slot and round again, and rings: each every-th write is signalled and has immediate data,
 * the doorbell's number, from 1. Before it comes to a slot again, all that was rung has been
 * heard. Functions return 0 or a negative errno with the error; after a failure that is no
 * refusal (-EACCES) only pool_client_close is of use. One thread has it.
 */
#ifndef CORE_POOL_CLIENT_H
#define CORE_POOL_CLIENT_H

#include "core/base/error.h"
#include "core/pool/message.h"
#include "core/rdma/rdma.h"

struct pool_client {
	struct rdma_context context;
	struct pool_message grant; /* size 0: there is none */
	struct pool_message answer;
	bool has_answer;
	uint32_t refusal; /* enum pool_status: what the server said unasked; POOL_OK: nothing */
	bool is_sending;  /* a request is not complete */
	bool is_writing;  /* a signalled write is not */
	unsigned int n_unsignalled; /* since the last one that was */
	uint64_t written;
	uint32_t rung;
};

struct pool_client_settings {
	const char *host;
	const char *device; /* NULL: what leads there */
	uint16_t port;
	size_t own_size; /* bytes of its own memory, for who posts by himself; 0: what it needs */
	enum rdma_wait_mode wait;
};

int pool_client_open(struct pool_client *client, const struct pool_client_settings *settings,
		     struct error *error);
int pool_client_close(struct pool_client *client); /* a zeroed one is fine */

/* Bytes of all of the server's pool. */
uint64_t pool_client_size(const struct pool_client *client);

/* every: 0 for no doorbells. client->grant is the newest one, which is written to. */
int pool_client_alloc(struct pool_client *client, uint64_t size, uint32_t every,
		      struct error *error);
int pool_client_free(struct pool_client *client, uint64_t address, struct error *error);

/* The next write. Where it rings it waits until that is complete: client->rung counts. */
int pool_client_write(struct pool_client *client, uint32_t value, struct error *error);

/* Until all writes are complete, and all that was rung is heard. */
int pool_client_sync(struct pool_client *client, struct error *error);

#endif
