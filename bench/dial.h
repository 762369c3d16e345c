/* SPDX-License-Identifier: MIT */
/*
 * TCP sockets of the control channel: by name or address, IPv4 and IPv6, each step
 * with a deadline.
 */
#ifndef BENCH_DIAL_H
#define BENCH_DIAL_H

#include <stdint.h>

#include "core/address.h"

/* Connects, trying again for wait_ms while nothing listens there. Returns the socket. */
int dial_connect(const char *host, uint16_t port, unsigned int wait_ms, struct error *error);

/* Listens on all addresses; port 0 takes a free one, told in *port. Returns the socket. */
int dial_listen(uint16_t *port, struct error *error);

/* Takes a client that waits. Returns the socket. */
int dial_accept(int listener, struct error *error);

/* The address at the other end of a socket. */
void dial_peer(int fd, char text[static ADDRESS_TEXT]);

#endif
