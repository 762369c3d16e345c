/* SPDX-License-Identifier: MIT */
/* IP addresses: resolves names within a deadline, and formats addresses as text. */
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
 * Resolves a name, or an address as text, to addresses with the given port. Abandons a
 * resolver that does not answer by the deadline.
 */
int address_resolve(struct address_list *list, const char *host, uint16_t port,
		    uint64_t deadline_ns, struct error *error);

/* Parses a numeric address. Returns false if text is anything else, such as a name. */
bool address_parse(struct sockaddr_storage *address, const char *text);

/* Formats an address without its port, an IPv6 address with its zone. Returns text. */
const char *address_text(const struct sockaddr *address, char text[static ADDRESS_TEXT]);

/* The same without the zone, which means nothing on another machine. */
const char *address_text_bare(const struct sockaddr *address, char text[static ADDRESS_TEXT]);

socklen_t address_length(const struct sockaddr *address);
uint16_t address_port(const struct sockaddr *address);
void address_set_port(struct sockaddr_storage *address, uint16_t port);

/* Converts an IPv4-mapped address, as a dual-stack socket reports it, to IPv4. */
void address_unmap(struct sockaddr_storage *address);

/* Returns whether two addresses are equal, ignoring ports. */
bool address_equal(const struct sockaddr *a, const struct sockaddr *b);

/* Returns whether both have the same family and share the first prefix bits. */
bool address_same_network(const struct sockaddr *a, const struct sockaddr *b, unsigned int prefix);

bool address_is_loopback(const struct sockaddr *address);
bool address_is_link_local(const struct sockaddr *address);

#endif
