/* SPDX-License-Identifier: MIT */
/*
 * If the kernel lets no process access another's memory, peers request copies over a socket. The
 * copy server, a thread of the target, checks key, rights and range itself and lets the kernel move
 * the data between the socket and the registered memory. It takes no lock that a client can hold
 * while it waits for an answer, so it cannot be the service thread. The first client starts it.
 */
#ifndef CORE_SOFT_PEER_COPY_SERVER_H
#define CORE_SOFT_PEER_COPY_SERVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define SOFT_COPY_MAGIC 0x766d7365 /* "vmse" */

enum {
	SOFT_COPY_MAX = 32768, /* bytes of one request */
};

enum soft_copy_kind {
	SOFT_COPY_TO = 1, /* the data follows */
	SOFT_COPY_FROM,
};

/* One piece of memory, within one region. */
struct soft_copy_request {
	uint32_t magic;
	uint32_t kind;
	uint32_t qp;  /* the target's index */
	uint32_t srq; /* XRC only */
	uint32_t access;
	uint32_t key;
	uint64_t length;
	uint64_t address; /* in the target */
};

/* Header of an answer. For SOFT_COPY_FROM, the data follows. */
struct soft_copy_answer {
	uint32_t magic;
	int32_t result; /* 0 or a negative errno */
};

struct soft_copy_server_client;

struct soft_copy_server {
	pthread_mutex_t mutex;
	pthread_t thread;
	bool is_running;
	int epoll;
	int end; /* eventfd that ends the thread */
	struct soft_copy_server_client *clients;
};

void soft_copy_server_open(struct soft_copy_server *server);

/* Accepts a zeroed server. */
void soft_copy_server_close(struct soft_copy_server *server);

/* Serves requests on a socket from the process of a slot. Replaces that slot's earlier socket. */
void soft_copy_server_adopt(struct soft_copy_server *server, int fd, uint32_t slot);

/* Returns once the copy that was in progress on entry has finished. */
void soft_copy_server_pass(struct soft_copy_server *server);

#endif
