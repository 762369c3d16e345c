/* SPDX-License-Identifier: MIT */
/*
 * Networks that clients may come from: 10.0.0.0/8,192.0.2.7,fd00::/8. None at all is
 * every one.
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

/* An option's parser: adds what is in the list. Returns what is wrong, or NULL. */
const char *allowed_networks_parse(const char *text, void *field);

/* IPv4 within IPv6 is IPv4. */
bool allowed_networks_permits(const struct allowed_networks *allowed,
			      const struct sockaddr *address);

#endif
