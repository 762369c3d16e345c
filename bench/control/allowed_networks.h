/* SPDX-License-Identifier: MIT */
/*
 * Networks that clients may connect from, such as 10.0.0.0/8,192.0.2.7,fd00::/8. An empty list
 * permits all.
 */
#ifndef BENCH_CONTROL_ALLOWED_NETWORKS_H
#define BENCH_CONTROL_ALLOWED_NETWORKS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#define ALLOWED_NETWORKS_MOST 64

struct allowed_networks {
	struct {
		struct sockaddr_storage address;
		unsigned int prefix;
	} network[ALLOWED_NETWORKS_MOST];
	size_t count;
};

/* Option parser: adds the networks in the list. Returns what is wrong with it, or NULL. */
const char *allowed_networks_parse(const char *text, void *field);

/* Treats an IPv4-mapped IPv6 address as IPv4. */
bool allowed_networks_permits(const struct allowed_networks *allowed,
			      const struct sockaddr *address);

#endif
