/* SPDX-License-Identifier: MIT */
/*
 * The handshake between client and server. If the server has a secret, the client proves that it
 * knows it before it is welcomed. The server seals the welcome, which proves that it knows the
 * secret too. From then on all messages are sealed, in both directions:
 *
 *	client				server
 *	hello (nonce)			challenge (nonce, version), or refused
 *	proof				welcome, sealed, or refused
 *
 * Until then, only heartbeats may follow without a seal.
 */
#ifndef BENCH_CONTROL_AUTH_H
#define BENCH_CONTROL_AUTH_H

#include "bench/control/control.h"
#include "bench/control/secret.h"

/* The server, as named in errors. */
struct auth_server {
	const char *who;
	const char *host;
	uint16_t port;
};

/* Client side: authenticates and receives the welcome. A zeroed secret means none. */
int auth_say(struct control *control, const struct secret *secret, const struct auth_server *server,
	     json_t **welcome, struct error *error);

/* Server side: authenticates the client, up to but not including the welcome. */
int auth_hear(struct control *control, const struct secret *secret, struct error *error);

#endif
