/* SPDX-License-Identifier: MIT */
/*
 * Internet addresses: names to addresses within a deadline, addresses to text.
 */
#ifndef CORE_BASE_ADDRESS_H
#define CORE_BASE_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "core/base/error.h"

#define ADDRESS_TEXT 64
#define ADDRESS_MAX  8

struct address_list {
	struct sockaddr_storage address[ADDRESS_MAX];
	unsigned int count;
};

/*
 * The addresses of a name or of an address as text, each with that port. A
 * resolver that does not answer is left behind at the deadline.
 */
int address_resolve(struct address_list *list, const char *host, uint16_t port,
		    uint64_t deadline_ns, struct error *error);

/* Whether text is an address, and no name; if so it is put there. */
bool address_parse(struct sockaddr_storage *address, const char *text);

/* Address without port; an IPv6 one with its zone. Returns text. */
const char *address_text(const struct sockaddr *address, char text[static ADDRESS_TEXT]);

/* The same for whoever has it: without the zone, which is what this machine calls its own port. */
const char *address_text_bare(const struct sockaddr *address, char text[static ADDRESS_TEXT]);

socklen_t address_length(const struct sockaddr *address);
uint16_t address_port(const struct sockaddr *address);
void address_set_port(struct sockaddr_storage *address, uint16_t port);

/* What speaks IPv4 to a socket for both becomes IPv4. */
void address_unmap(struct sockaddr_storage *address);

/* Whether two addresses, without their ports, are the same. */
bool address_equal(const struct sockaddr *a, const struct sockaddr *b);

/* Whether both are of one family and share their first prefix bits. */
bool address_same_network(const struct sockaddr *a, const struct sockaddr *b, unsigned int prefix);

bool address_is_loopback(const struct sockaddr *address);
bool address_is_link_local(const struct sockaddr *address);

#endif
