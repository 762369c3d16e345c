/* SPDX-License-Identifier: MIT */
/*
 * One client of a pool's server: its connection, what it was granted, and the answers that
 * are under way to it. It is the server's, which frees it when it has left: server_client_leave only
 * ends its connection, so that whoever is under way with it may go on to the end.
 */
#ifndef CORE_POOL_SERVER_CLIENT_H
#define CORE_POOL_SERVER_CLIENT_H

#include <stdatomic.h>

#include "core/pool/server.h"

/* Answers under way at once: a client that has not taken more of them is none of ours. */
#define SERVER_CLIENT_LETTERS 16
/* Requests under way: where clients have no domains, a window is bound before each answer. */
static inline uint32_t server_client_requests(const struct pool_server *server)
{
	return server->has_domains ? SERVER_CLIENT_LETTERS : 2 * SERVER_CLIENT_LETTERS;
}

/* An answer, until it is complete: its address is the wr_id. */
struct letter {
	struct server_client *guest;
	struct letter *next; /* that is free */
	uint8_t bytes[POOL_MESSAGE];
};

struct server_client {
	struct pool_server *server;
	struct server_client *next;
	struct server_client *next_queue; /* in the same bucket */
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_mr *mr;    /* of the letters */
	struct grant *grants; /* the newest first */
	uint64_t granted;     /* bytes of their chunks */
	struct letter letters[SERVER_CLIENT_LETTERS];
	struct letter *free;
	unsigned int n_free;
	struct rdma_remote remote;
	uint64_t heard_ns;
	bool is_probing;
	bool is_welcome; /* it has been told of */
	bool is_expired; /* it has been told that its time is over */
	bool is_leaving;
	bool is_through; /* nothing of its queue pair's comes any more */
	uint64_t since_ns;
	uint64_t leaving_ns;  /* since when */
	atomic_bool has_last; /* its queue pair takes no more of the receives */
	char name[ADDRESS_TEXT + 16];
};

/* Makes what a client needs of its own, and accepts it. On failure it is to be destroyed. */
struct server_client *server_client_create(struct pool_server *server, struct rdma_cm_id *id);
int server_client_admit(struct server_client *guest, const struct rdma_conn_param *asked,
			struct error *error);

/* Of one that leaves: its queue pair goes, of which there may still be completions. */
void server_client_part(struct server_client *guest);

/* Once there are none any more. What it was granted is taken back. */
void server_client_destroy(struct server_client *guest);

/* The connection is up, as its first word shows if no event has yet. */
void server_client_welcome(struct server_client *guest);

/* Ends the connection; NULL: it has gone by itself. What it has under way comes to its end. */
void server_client_leave(struct server_client *guest, const char *reason);

/* What it has said, and rung. */
void server_client_hear(struct server_client *guest, const uint8_t *bytes, size_t length);
void server_client_ring(struct server_client *guest, uint32_t number);

/* A window of its could not be bound: nothing was granted. */
void server_client_unbound(struct server_client *guest, enum ibv_wc_status status);

/* An answer, or a probe, is complete. */
void server_client_sent(struct letter *letter, enum ibv_wc_status status);

/* After a while of silence: asks its device whether it is still there. */
void server_client_probe(struct server_client *guest, uint64_t now_ns);

/* Whose time is over is told so, and the next time leaves. */
void server_client_expire(struct server_client *guest, uint64_t now_ns);

struct server_client *server_client_find(const struct pool_server *server, uint32_t qp_num);

#endif
