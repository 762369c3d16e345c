/* SPDX-License-Identifier: MIT */
/*
 * A secret shared by the two ends of a control connection: the contents of a file, or the token of
 * a server that a run starts. Each end proves that it knows the secret, using nonces of both ends,
 * and the connection's keys are derived from the secret and the nonces. The secret never crosses
 * the wire.
 */
#ifndef BENCH_CONTROL_SECRET_H
#define BENCH_CONTROL_SECRET_H

#include "bench/control/seal.h"
#include "core/base/error.h"

#define SECRET_NONCE 32
#define SECRET_PROOF 32
/* 32 bytes in hexadecimal, including the terminating zero. */
#define SECRET_HEX (2 * 32 + 1)

/* Minimum length: a shorter one could be guessed offline from one recorded connection. */
#define SECRET_LEAST 16
#define SECRET_MOST  4096

/* Zeroed: no secret. */
struct secret {
	uint8_t key[SEAL_KEY];
	bool is_set;
	bool is_token;
};

/* The values that both ends have announced before the proof. */
struct secret_talk {
	const char *client_version;
	const char *server_version;
	uint8_t client_nonce[SECRET_NONCE];
	uint8_t server_nonce[SECRET_NONCE];
};

struct secret_keys {
	uint8_t proof[SECRET_PROOF]; /* of the client; the server proves itself by its seal */
	uint8_t to_server[SEAL_KEY];
	uint8_t to_client[SEAL_KEY];
	uint8_t pairs[SEAL_KEY]; /* for connecting queue pairs */
};

/* Reads a file that only its owner, this user or root, can read. Ignores trailing newlines. */
int secret_read(struct secret *secret, const char *path, struct error *error);

/* Same for a string. */
int secret_take(struct secret *secret, const char *text, struct error *error);

void secret_forget(struct secret *secret);
void secret_forget_keys(struct secret_keys *keys);

void secret_nonce(uint8_t nonce[static SECRET_NONCE]);
void secret_agree(const struct secret *secret, const struct secret_talk *talk,
		  struct secret_keys *keys);

/* Compares in constant time. */
bool secret_is_proof(const struct secret_keys *keys, const uint8_t proof[static SECRET_PROOF]);

/* Converts 32 bytes to hexadecimal and back. secret_parse returns false if text is malformed. */
void secret_print(const uint8_t bytes[static 32], char text[static SECRET_HEX]);
bool secret_parse(uint8_t bytes[static 32], const char *text);

/*
 * Tickets authenticate the connections that rdma_cm makes for a queue pair, one after another.
 * They cross the wire in the clear, so each is valid once and reveals nothing about the next.
 */
struct secret_tickets {
	bool is_open;
	uint8_t salt[SECRET_NONCE];
	uint8_t key[SEAL_KEY]; /* derives the next ticket */
};

/* Starts the tickets of a queue pair. With the salt already in use, they continue. */
void secret_tickets_begin(struct secret_tickets *tickets, const uint8_t key[static SEAL_KEY],
			  const uint8_t salt[static SECRET_NONCE], uint32_t number);
void secret_tickets_next(struct secret_tickets *tickets, uint8_t *ticket, size_t size);

#endif
