/* SPDX-License-Identifier: MIT */
/* Made-up machines with devices, ports and addresses, for tests of bench/host/inventory.h. */
#ifndef BENCH_TEST_UNIT_D_MACHINES_H
#define BENCH_TEST_UNIT_D_MACHINES_H

#include <stdio.h>

#include "bench/host/inventory.h"
#include "core/base/address.h"
#include "core/test/lib/check.h"

/* A made-up machine with up to four ports, each with up to four addresses. */
struct machine {
	struct device_list list;
	struct device_port ports[4];
	struct device_address addresses[4][4];
};

static inline void add_port(struct machine *machine, const char *device, const char *link_layer,
			    uint64_t rate_mbps)
{
	size_t n = machine->list.n_ports++;
	struct device_port *port = &machine->ports[n];

	machine->list.ports = machine->ports;
	*port = (struct device_port){.port = 1,
				     .state = IBV_PORT_ACTIVE,
				     .link_layer = link_layer,
				     .rate_mbps = rate_mbps,
				     .active_mtu = 1024,
				     .max_mtu = 4096,
				     .numa_node = -1,
				     .addresses = machine->addresses[n]};
	snprintf(port->device, sizeof(port->device), "%s", device);
}

/* Adds an address to the port added last. */
static inline void add_address(struct machine *machine, const char *text, unsigned int prefix)
{
	struct device_port *port = &machine->ports[machine->list.n_ports - 1];
	struct device_address *address = &port->addresses[port->n_addresses++];

	*address = (struct device_address){.prefix = prefix, .interface = "eth7"};
	assert_true(address_parse(&address->address, text));
}

/* The chosen pair of ports, or the error. */
struct pairing {
	struct result_end local;
	struct result_end remote;
	struct error error;
	int code;
};

static inline struct pairing pair(const struct machine *local, const struct machine *remote,
				  const struct inventory_wish *wish)
{
	struct inventory_wish wished = *wish;
	struct pairing found = {0};

	if (!wished.host)
		wished.host = "a.example";
	wished.who = "a.example";
	found.code = inventory_pair(&local->list, &remote->list, &wished, &found.local,
				    &found.remote, &found.error);
	return found;
}

static inline void two_each(struct machine *local, struct machine *remote)
{
	*local = *remote = (struct machine){0};
	add_port(local, "slow0", "Ethernet", 10000);
	add_address(local, "192.0.2.1", 24);
	add_port(local, "fast0", "Ethernet", 100000);
	add_address(local, "198.51.100.1", 24);
	add_port(remote, "slow1", "Ethernet", 10000);
	add_address(remote, "192.0.2.2", 24);
	add_port(remote, "fast1", "Ethernet", 200000);
	add_address(remote, "198.51.100.2", 24);
}

#endif
