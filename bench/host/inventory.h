/* SPDX-License-Identifier: MIT */
/*
 * The devices of a machine as JSON, as 'verbmark devices --json' prints them and a
 * server tells them, and back; and which pair of two machines' devices to use.
 */
#ifndef BENCH_HOST_INVENTORY_H
#define BENCH_HOST_INVENTORY_H

#include <jansson.h>

#include "core/verbs/device.h"
#include "reports/result/result.h"

/* NULL without memory. */
json_t *inventory_encode(const struct device_list *list);

/* Whatever it says, the list is bounded and well formed, or there is an error. */
int inventory_decode(struct device_list *list, const json_t *json, struct error *error);

/* Whether DEVICE, or DEVICE/PORT as everything prints it, is a name of that port. */
bool inventory_names(const char *wish, const char *device, unsigned int port);

/* Says that it is not there: of a DEVICE that is, which ports it has. */
int inventory_unknown(const struct device_list *list, const char *wish, struct error *error);

/* Leaves the ports of DEVICE or DEVICE/PORT, of which there has to be one; NULL: all. */
int inventory_keep(struct device_list *list, const char *wish, struct error *error);

/* An active one with an address before others, of DEVICE or DEVICE/PORT, or any; NULL: none. */
const struct device_port *inventory_best(const struct device_list *list, const char *wish);

/* What was asked for. A device is DEVICE or DEVICE/PORT; NULL: any. */
struct inventory_wish {
	const char *device;
	const char *server_device;
	uint8_t device_port; /* of any device, or of the one that is named; 0: any */
	const char *host;    /* as the user wrote it: its address is preferred */
	const char *who;     /* the other end is, in what fails */
	bool is_by_hand;     /* queue pairs are connected so alone, which takes no address */
};

/*
 * Picks two active ports whose addresses share a network: on a link of one kind,
 * the fastest; the host's own address before others. Link-local ones, which always do,
 * count where it is one of them, or where the two ports have no others. Two devices that
 * are both wished for need share none; by hand, there need be no address at all. The
 * software device reaches its own kind alone. Fills in both ends but their host names.
 */
int inventory_pair(const struct device_list *local, const struct device_list *remote,
		   const struct inventory_wish *wish, struct result_end *near,
		   struct result_end *far, struct error *error);

#endif
