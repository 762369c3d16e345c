/* SPDX-License-Identifier: MIT */
/* What is asked of ports: for those files alone that inventory.h is made by. */
#ifndef BENCH_HOST_INVENTORY_PORTS_H
#define BENCH_HOST_INVENTORY_PORTS_H

#include "bench/host/inventory.h"

static inline bool inventory_is_active(const struct device_port *port)
{
	return port->state == IBV_PORT_ACTIVE;
}

/* One that means anything here. */
bool inventory_has_address(const struct device_port *port);

/* By device and port of this end's wish. */
bool inventory_is_wanted(const struct device_port *port, const struct inventory_wish *wish);

/* As inventory_best. */
const struct device_port *inventory_best_of(const struct device_list *list,
					    const struct inventory_wish *wish);

bool inventory_has_device(const struct device_list *list, const char *wish);

/* Of the device that is wished for, or of all: the error tells which ports there are. */
int inventory_no_port(const struct device_list *list, const struct inventory_wish *wish,
		      struct error *error);

#endif
