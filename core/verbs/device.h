/* SPDX-License-Identifier: MIT */
/*
 * The RDMA devices of this machine, their ports, and the IP addresses that lead to each
 * port. A list is a snapshot and owns its memory.
 */
#ifndef CORE_VERBS_DEVICE_H
#define CORE_VERBS_DEVICE_H

#include <infiniband/verbs.h>
#include <net/if.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "core/base/error.h"
#include "core/verbs/device_kind.h"

struct device_address {
	struct sockaddr_storage address;
	unsigned int prefix; /* bits */
	char interface[IF_NAMESIZE];
};

struct device_port {
	char device[IBV_SYSFS_NAME_MAX];
	uint8_t port;
	enum ibv_port_state state;
	const char *link_layer;  /* "Ethernet", "InfiniBand", "iWARP", "unspecified" */
	uint64_t rate_mbps;      /* of the link, in 10^6 bits per second */
	unsigned int active_mtu; /* bytes */
	unsigned int max_mtu;
	int numa_node; /* -1: unknown */
	enum device_kind kind;
	struct device_address *addresses;
	size_t n_addresses;
};

/* A device that exists but cannot be used, and the reason. */
struct device_left {
	char device[IBV_SYSFS_NAME_MAX];
	struct error fault;
};

struct device_list {
	struct device_port *ports;
	size_t n_ports;
	struct device_left *left;
	size_t n_left;
};

int device_list_open(struct device_list *list, struct error *error);
void device_list_close(struct device_list *list);

/*
 * An open device for an endpoint. Uses librdmacm's own verbs context, the only one that
 * works for connections by rdma_cm; without rdma_cm, opens one.
 */
struct device_handle {
	struct ibv_context *verbs;
	struct ibv_context **held; /* librdmacm's list; NULL: verbs was opened here */
};

int device_open(struct device_handle *handle, const char *device, struct error *error);
void device_close(struct device_handle *handle); /* a zeroed one is fine */

/* Fails if the machine has no RDMA device; the error says how to get one. */
int device_require(struct error *error);

/*
 * Sets the error for an unknown device, with the available ones, or the reason why it
 * cannot be used.
 */
int device_unknown(const struct device_list *list, const char *device, struct error *error);

/*
 * Finds an address of an active port of the device. If remote is not NULL, the address has
 * its family and, if possible, its network. The error for an unknown device lists the
 * available ones.
 */
int device_find_address(const struct device_list *list, const char *device,
			const struct sockaddr *remote, struct device_address *found,
			struct error *error);

/* The same for a caller's ib_dev, which may also be an address, used unchanged. */
int device_address(const char *ib_dev, const struct sockaddr *remote,
		   struct sockaddr_storage *address, struct error *error);

/* Returns whether the address is on the network of any device. */
bool device_is_reached_by(const struct sockaddr *remote);

/*
 * Lists the GIDs of all ports. The caller frees gids, also after a failure; NULL: out of
 * memory.
 */
int device_gids(struct ibv_context *verbs, unsigned int ports, struct ibv_gid_entry **gids,
		size_t *count, struct error *error);

const char *device_state_name(enum ibv_port_state state);

/* Returns the kernel's value, or -1 if unknown. */
int device_numa_node(const char *device);

#endif
