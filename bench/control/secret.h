/* SPDX-License-Identifier: MIT */
/*
 * What both ends of a control connection know and nobody else: the contents of a file,
 * or the token of a server that a run starts. Each end proves it over fresh numbers of
 * both, and the keys of the connection follow from it and them. It never crosses the
 * wire itself.
 */
#ifndef BENCH_CONTROL_SECRET_H
#define BENCH_CONTROL_SECRET_H

#include "bench/control/seal.h"
#include "core/base/error.h"

#define SECRET_NONCE 32
#define SECRET_PROOF 32
/* As text, with its end. */
#define SECRET_HEX (2 * 32 + 1)

/* Less is guessed from one connection that was listened to. */
#define SECRET_LEAST 16
#define SECRET_MOST  4096

/* Zeroed: there is none. */
struct secret {
	uint8_t key[SEAL_KEY];
	bool is_set;
	bool is_token;
};

/* What both ends have said of themselves before. */
struct secret_talk {
	const char *client_version;
	const char *server_version;
	uint8_t client_nonce[SECRET_NONCE];
	uint8_t server_nonce[SECRET_NONCE];
};

struct secret_keys {
	uint8_t proof[SECRET_PROOF]; /* that the client knows it; its seal is the server's */
	uint8_t to_server[SEAL_KEY];
	uint8_t to_client[SEAL_KEY];
	uint8_t pairs[SEAL_KEY]; /* for who connects a queue pair */
};

/* A file of this user's or root's, that others cannot read. Line ends behind it are none. */
int secret_read(struct secret *secret, const char *path, struct error *error);

/* The same of a text. */
int secret_take(struct secret *secret, const char *text, struct error *error);

void secret_forget(struct secret *secret);
void secret_forget_keys(struct secret_keys *keys);

void secret_nonce(uint8_t nonce[static SECRET_NONCE]);
void secret_agree(const struct secret *secret, const struct secret_talk *talk,
		  struct secret_keys *keys);

/* In constant time. */
bool secret_is_proof(const struct secret_keys *keys, const uint8_t proof[static SECRET_PROOF]);

/* 32 bytes as text, and back: false is none. */
void secret_print(const uint8_t bytes[static 32], char text[static SECRET_HEX]);
bool secret_parse(uint8_t bytes[static 32], const char *text);

/*
 * What connections of rdma_cm show, which everybody on the way may read: those of one queue
 * pair, one after another. A ticket is worth one of them, and tells nothing of the next.
 */
struct secret_tickets {
	bool is_open;
	uint8_t salt[SECRET_NONCE];
	uint8_t key[SEAL_KEY]; /* of the next one */
};

/* Of that queue pair, of those with that salt. Where they are under way they go on. */
void secret_tickets_begin(struct secret_tickets *tickets, const uint8_t key[static SEAL_KEY],
			  const uint8_t salt[static SECRET_NONCE], uint32_t number);
void secret_tickets_next(struct secret_tickets *tickets, uint8_t *ticket, size_t size);

#endif
