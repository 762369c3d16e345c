/* SPDX-License-Identifier: MIT */
/*
 * TCP sockets of the control channel: by name or address, IPv4 and IPv6, each step
 * with a deadline.
 */
#ifndef BENCH_CONTROL_DIAL_H
#define BENCH_CONTROL_DIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/address.h"

/* Lets the caller cancel a wait. */
struct dial_stop {
	bool (*is_over)(void *owner);
	void *owner;
};

/*
 * Connects, retrying for wait_ms while nothing listens there. Returns the socket. Returns -EINTR
 * soon after `stop` (may be NULL) cancels the wait.
 */
int dial_until(const char *host, uint16_t port, unsigned int wait_ms, const struct dial_stop *stop,
	       struct error *error);

/*
 * Listens on that address, or on all if NULL. Port 0 selects a free port, returned in *port.
 * Returns the socket.
 */
int dial_listen(const char *own, uint16_t *port, struct error *error);

/* Accepts a waiting client. Returns the socket. */
int dial_accept(int listener, struct error *error);

/* Gets the peer's address. Returns false if the peer has disconnected. */
bool dial_peer(int fd, struct sockaddr_storage *address, char text[static ADDRESS_TEXT]);

#endif
