/* SPDX-License-Identifier: MIT */
/*
 * The RDMA devices of this machine, their ports, and the internet addresses under
 * which a port can be reached. A list is a snapshot; it owns its memory.
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
	int numa_node; /* -1: none known */
	enum device_kind kind;
	struct device_address *addresses;
	size_t n_addresses;
};

/* A device that is there, and cannot be used: why. */
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
 * A device to make a ground on. It is librdmacm's own context of it, since connections
 * by rdma_cm take no other; without rdma_cm one is opened.
 */
struct device_handle {
	struct ibv_context *verbs;
	struct ibv_context **held; /* by librdmacm; NULL: verbs is ours to close */
};

int device_open(struct device_handle *handle, const char *device, struct error *error);
void device_close(struct device_handle *handle); /* a zeroed one is fine */

/* Whether there is any device; if not, the error says how to get one. */
int device_require(struct error *error);

/* Says that there is no such device, and which there are; or why it cannot be used. */
int device_unknown(const struct device_list *list, const char *device, struct error *error);

/*
 * An address of an active port of the device. With a remote one (NULL is allowed):
 * of its family, and on its network if there is such. An unknown device is told with
 * those there are.
 */
int device_find_address(const struct device_list *list, const char *device,
			const struct sockaddr *remote, struct device_address *found,
			struct error *error);

/* The same for what a caller names as ib_dev: a device, or an address as it stands. */
int device_address(const char *ib_dev, const struct sockaddr *remote,
		   struct sockaddr_storage *address, struct error *error);

/* Whether an address is on the network of a device. */
bool device_is_reached_by(const struct sockaddr *remote);

/*
 * The GIDs of all its ports, that many. The caller frees gids, also after a failure;
 * NULL: there was no memory.
 */
int device_gids(struct ibv_context *verbs, unsigned int ports, struct ibv_gid_entry **gids,
		size_t *count, struct error *error);

const char *device_state_name(enum ibv_port_state state);

/* As the kernel tells it; -1: none known. */
int device_numa_node(const char *device);

#endif
