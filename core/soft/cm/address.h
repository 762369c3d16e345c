/* SPDX-License-Identifier: MIT */
/*
 * Addresses for rdma_cm. Each interface address is a GID of the port; IPv4 addresses are mapped to
 * IPv6. Functions return 0 or a negative errno.
 */
#ifndef CORE_SOFT_CM_ADDRESS_H
#define CORE_SOFT_CM_ADDRESS_H

#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct soft_cm_address {
	union ibv_gid gid;
	uint32_t scope;
	uint16_t family; /* 0: none */
	uint16_t port;   /* host byte order */
};

/* Converts a socket address. Returns -EAFNOSUPPORT if it is neither IPv4 nor IPv6. */
int soft_cm_address_take(struct soft_cm_address *address, const struct sockaddr *from);
void soft_cm_address_give(const struct soft_cm_address *address, struct sockaddr_storage *to);

bool soft_cm_address_is_any(const struct soft_cm_address *address);

/* Returns the index among the port's GIDs, or -1. */
int soft_cm_address_index(const struct soft_cm_address *address);

/* Returns whether it is a local address, including one added recently: see soft_port_find(). */
bool soft_cm_address_is_own(const struct soft_cm_address *address);

/* Determines the address that the host would send from. */
int soft_cm_address_source(const struct soft_cm_address *to, struct soft_cm_address *from);

#endif
