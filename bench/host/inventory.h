/* SPDX-License-Identifier: MIT */
/*
 * The devices of a machine as JSON, as printed by 'verbmark devices --json' and sent by a server;
 * and the choice of a pair of devices for two machines.
 */
#ifndef BENCH_HOST_INVENTORY_H
#define BENCH_HOST_INVENTORY_H

#include <jansson.h>

#include "core/verbs/device.h"
#include "reports/result/result.h"

/* Returns NULL if out of memory. */
json_t *inventory_encode(const struct device_list *list);

/* Decodes a list from a peer. It is bounded and well-formed, or an error is returned. */
int inventory_decode(struct device_list *list, const json_t *json, struct error *error);

/* Returns whether wish, as DEVICE or DEVICE/PORT, names that port. */
bool inventory_names(const char *wish, const char *device, unsigned int port);

/* Sets an error that lists the available devices, or the ports of DEVICE if that exists. */
int inventory_unknown(const struct device_list *list, const char *wish, struct error *error);

/* Drops ports other than those of DEVICE or DEVICE/PORT; fails if none is left. NULL: keeps all. */
int inventory_keep(struct device_list *list, const char *wish, struct error *error);

/* Returns the best port of DEVICE or DEVICE/PORT: active, with an address. wish = NULL: of any. */
const struct device_port *inventory_best(const struct device_list *list, const char *wish);

/* The devices that the user requested, as DEVICE or DEVICE/PORT; NULL: any. */
struct inventory_wish {
	const char *device;
	const char *server_device;
	uint8_t device_port; /* of the local device; 0: any */
	const char *host;    /* the server as the user named it: that address is preferred */
	const char *who;     /* the server's name in errors */
	bool is_by_hand;     /* all queue pairs are connected without rdma_cm, so need no address */
};

/*
 * Picks two active ports whose addresses share a network. Prefers equal link layers, then higher
 * rates, then the address that the user gave. Link-local addresses, which always share a network,
 * count only if the user gave one or the ports have no others. If both devices are named, they need
 * not share a network; with is_by_hand, no address is needed at all. soft0 is paired only with
 * soft0. Fills in both ends except their host names.
 */
int inventory_pair(const struct device_list *local, const struct device_list *remote,
		   const struct inventory_wish *wish, struct result_end *client,
		   struct result_end *server, struct error *error);

#endif
