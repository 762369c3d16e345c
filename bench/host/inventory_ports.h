/* SPDX-License-Identifier: MIT */
/* Helpers shared by inventory.c and inventory_pair.c. */
#ifndef BENCH_HOST_INVENTORY_PORTS_H
#define BENCH_HOST_INVENTORY_PORTS_H

#include "bench/host/inventory.h"

static inline bool inventory_is_active(const struct device_port *port)
{
	return port->state == IBV_PORT_ACTIVE;
}

/* Returns whether the port has an address that is valid on this machine. */
bool inventory_has_address(const struct device_port *port);

/* Returns whether the port matches the wish's device and port number. */
bool inventory_is_wanted(const struct device_port *port, const struct inventory_wish *wish);

/* Same as inventory_best, for a wish. */
const struct device_port *inventory_best_of(const struct device_list *list,
					    const struct inventory_wish *wish);

bool inventory_has_device(const struct device_list *list, const char *wish);

/* Sets an error that the port number does not exist, with the ports that do. */
int inventory_no_port(const struct device_list *list, const struct inventory_wish *wish,
		      struct error *error);

#endif
