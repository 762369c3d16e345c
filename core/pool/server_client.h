/* SPDX-License-Identifier: MIT */
/*
 * One client of a pool's server: its connection, its grants, and the answers in flight to
 * it. It belongs to the server, which frees it after it has left. server_client_leave only
 * ends the connection, so that callers may continue to use the client.
 */
#ifndef CORE_POOL_SERVER_CLIENT_H
#define CORE_POOL_SERVER_CLIENT_H

#include <stdatomic.h>

#include "core/pool/server.h"

/* Maximum answers in flight: a client that does not receive them is disconnected. */
#define SERVER_CLIENT_REPLIES 16
/* Returns the send queue depth. Without separate domains, each answer follows a window bind. */
static inline uint32_t server_client_requests(const struct pool_server *server)
{
	return server->has_domains ? SERVER_CLIENT_REPLIES : 2 * SERVER_CLIENT_REPLIES;
}

/* An answer in flight; its address is the wr_id. */
struct reply {
	struct server_client *client;
	struct reply *next; /* the next free one */
	uint8_t bytes[POOL_MESSAGE];
};

struct server_client {
	struct pool_server *server;
	struct server_client *next;
	struct server_client *next_queue; /* in the same hash bucket */
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_mr *mr;    /* of the replies */
	struct grant *grants; /* newest first */
	uint64_t granted;     /* bytes of the grants' chunks */
	struct reply replies[SERVER_CLIENT_REPLIES];
	struct reply *free;
	unsigned int n_free;
	struct rdma_remote remote;
	uint64_t heard_ns;
	bool is_probing;
	bool is_welcome; /* reported as POOL_CAME */
	bool is_leaving;
	bool is_finished; /* no more completions of its queue pair will arrive */
	uint64_t since_ns;
	uint64_t expired_ns;  /* when it was notified that its time limit is over, or 0 */
	uint64_t leaving_ns;  /* when it began to leave */
	atomic_bool has_last; /* its queue pair takes no more shared receives */
	char name[ADDRESS_TEXT + 16];
};

/* Creates a client, and accepts its connection. Destroy the client on failure. */
struct server_client *server_client_create(struct pool_server *server, struct rdma_cm_id *id);
int server_client_admit(struct server_client *client, const struct rdma_conn_param *asked,
			struct error *error);

/* Destroys the queue pair of a client that leaves; completions may still arrive. */
void server_client_detach(struct server_client *client);

/* Frees a client and its grants. Call when no completions can arrive any more. */
void server_client_destroy(struct server_client *client);

/* Handles an established connection: its event, or a message that arrives first. */
void server_client_welcome(struct server_client *client);

/* Ends the connection; reason is NULL if the client left. Operations in flight still complete. */
void server_client_leave(struct server_client *client, const char *reason);

/* Handle a message and a doorbell of the client. */
void server_client_handle(struct server_client *client, const uint8_t *bytes, size_t length);
void server_client_ring(struct server_client *client, uint32_t number);

/* Handles a failed bind of a window: disconnects the client. */
void server_client_unbound(struct server_client *client, enum ibv_wc_status status);

/* Handles the completion of an answer or a probe. */
void server_client_sent(struct reply *reply, enum ibv_wc_status status);

/* Probes the client with an empty write after a while of silence. */
void server_client_probe(struct server_client *client, uint64_t now_ns);

/* Notifies a client that its time limit is over; it is disconnected once it has the notice. */
void server_client_expire(struct server_client *client, uint64_t now_ns);

struct server_client *server_client_find(const struct pool_server *server, uint32_t qp_num);

#endif
