/* SPDX-License-Identifier: MIT */
/*
 * How client and server greet. Where there is a secret, the client proves it before it
 * is welcome, and the welcome is sealed by the server, which proves it as well; so is
 * all that follows, in both directions:
 *
 *	client				server
 *	hello (nonce)			challenge (nonce, version), or refused
 *	proof				welcome, sealed, or refused
 *
 * Until then nothing but heartbeats comes from either without a seal.
 */
#ifndef BENCH_CONTROL_AUTH_H
#define BENCH_CONTROL_AUTH_H

#include "bench/control/control.h"
#include "bench/control/secret.h"

/* Whom a client greets, in what fails. */
struct auth_server {
	const char *who;
	const char *host;
	uint16_t port;
};

/* The client's: gets the welcome. A zeroed secret is none. */
int auth_say(struct control *control, const struct secret *secret, const struct auth_server *server,
	     json_t **welcome, struct error *error);

/* The server's, until the client may be welcomed. */
int auth_hear(struct control *control, const struct secret *secret, struct error *error);

#endif
