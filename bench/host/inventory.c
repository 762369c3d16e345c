/* SPDX-License-Identifier: MIT */
#include "bench/host/inventory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/host/inventory_ports.h"
#include "core/base/address.h"
#include "core/base/printable.h"

#define PORTS_MAX     256
#define ADDRESSES_MAX 256

static json_t *encode_address(const struct device_address *address)
{
	char text[ADDRESS_TEXT];

	return json_pack("{s:s, s:i, s:s}", "address",
			 address_text((const struct sockaddr *)&address->address, text), "prefix",
			 (int)address->prefix, "interface", address->interface);
}

static json_t *encode_port(const struct device_port *port)
{
	json_t *addresses = json_array();

	for (size_t i = 0; i < port->n_addresses; i++)
		json_array_append_new(addresses, encode_address(&port->addresses[i]));
	return json_pack("{s:s, s:i, s:s*, s:s, s:s, s:I, s:i, s:i, s:i, s:o}", "device",
			 port->device, "port", port->port, "kind", device_kind_name(port->kind),
			 "state", device_state_name(port->state), "link_layer", port->link_layer,
			 "rate_mbps", (json_int_t)port->rate_mbps, "mtu", (int)port->active_mtu,
			 "max_mtu", (int)port->max_mtu, "numa_node", port->numa_node, "addresses",
			 addresses);
}

json_t *inventory_encode(const struct device_list *list)
{
	json_t *ports = json_array();

	for (size_t i = 0; i < list->n_ports; i++)
		json_array_append_new(ports, encode_port(&list->ports[i]));
	return ports;
}

static int malformed(const json_error_t *fault, struct error *error)
{
	return error_set(error, -EPROTO, "malformed list of devices from the peer: %s",
			 fault->text);
}

static int decode_address(struct device_address *address, json_t *json, struct error *error)
{
	json_error_t fault;
	const char *text;
	const char *interface;
	int prefix;

	if (json_unpack_ex(json, &fault, 0, "{s:s, s:i, s:s}", "address", &text, "prefix", &prefix,
			   "interface", &interface))
		return malformed(&fault, error);
	*address = (struct device_address){.prefix = prefix < 0 ? 0 : (unsigned int)prefix};
	printable_copy(address->interface, sizeof(address->interface), interface);
	/* An address with a zone of the other machine is meaningless here. */
	if (!address_parse(&address->address, text))
		address->address.ss_family = AF_UNSPEC;
	return 0;
}

static enum ibv_port_state decode_state(const char *name)
{
	for (enum ibv_port_state i = IBV_PORT_NOP; i <= IBV_PORT_ACTIVE_DEFER; i++)
		if (!strcmp(name, device_state_name(i)))
			return i;
	return IBV_PORT_DOWN;
}

/* Returns a constant string, because the list must not keep pointers into the message. */
static const char *decode_link_layer(const char *name)
{
	static const char *const names[] = {"Ethernet", "InfiniBand", "iWARP"};

	for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
		if (!strcmp(name, names[i]))
			return names[i];
	return "unspecified";
}

static int decode_addresses(struct device_port *port, const json_t *addresses, struct error *error)
{
	size_t count = json_array_size(addresses);
	int code = 0;

	if (count > ADDRESSES_MAX)
		return error_set(error, -EPROTO,
				 "the peer lists too many addresses on one port: %zu", count);
	port->addresses = count ? calloc(count, sizeof(*port->addresses)) : NULL;
	if (count && !port->addresses)
		return error_set_errno(error, -ENOMEM, "cannot list devices");
	for (size_t i = 0; i < count && !code; i++)
		code = decode_address(&port->addresses[port->n_addresses++],
				      json_array_get(addresses, i), error);
	return code;
}

static int decode_port(struct device_port *port, json_t *json, struct error *error)
{
	json_error_t fault;
	json_t *addresses;
	json_int_t rate;
	const char *device;
	const char *state;
	const char *link_layer;
	const char *kind = NULL;
	int number;
	int mtu;

	if (json_unpack_ex(json, &fault, 0, "{s:s, s:i, s?s, s:s, s:s, s:I, s:i, s:o}", "device",
			   &device, "port", &number, "kind", &kind, "state", &state, "link_layer",
			   &link_layer, "rate_mbps", &rate, "mtu", &mtu, "addresses", &addresses))
		return malformed(&fault, error);
	if (number < 1 || number > UINT8_MAX)
		return error_set(error, -EPROTO, "the peer lists an invalid device port: %d",
				 number);
	*port = (struct device_port){.port = (uint8_t)number,
				     .kind = device_kind_named(kind),
				     .state = decode_state(state),
				     .link_layer = decode_link_layer(link_layer),
				     .rate_mbps = rate < 0 ? 0 : (uint64_t)rate,
				     .active_mtu = mtu < 0 ? 0 : (unsigned int)mtu,
				     .numa_node = -1};
	printable_copy(port->device, sizeof(port->device), device);
	return decode_addresses(port, addresses, error);
}

int inventory_decode(struct device_list *list, const json_t *json, struct error *error)
{
	size_t count = json_array_size(json);
	int code = 0;

	*list = (struct device_list){0};
	if (!count || count > PORTS_MAX)
		return error_set(
			error, -EPROTO, "the peer lists %zu device ports%s", count,
			count ? ", which is too many: let 'serve --device' offer only one device"
			      : "");
	list->ports = calloc(count, sizeof(*list->ports));
	if (!list->ports)
		return error_set_errno(error, -ENOMEM, "cannot list devices");
	for (size_t i = 0; i < count && !code; i++)
		code = decode_port(&list->ports[list->n_ports++], json_array_get(json, i), error);
	if (code)
		device_list_close(list);
	return code;
}

bool inventory_names(const char *wish, const char *device, unsigned int port)
{
	size_t length = strlen(device);
	char number[16];

	snprintf(number, sizeof(number), "/%u", port);
	return !strncmp(wish, device, length) && (!wish[length] || !strcmp(wish + length, number));
}

static bool is_named(const struct device_port *port, const char *wish)
{
	return inventory_names(wish, port->device, port->port);
}

bool inventory_is_wanted(const struct device_port *port, const struct inventory_wish *wish)
{
	return (!wish->device || is_named(port, wish->device)) &&
	       (!wish->device_port || port->port == wish->device_port);
}

bool inventory_has_address(const struct device_port *port)
{
	for (size_t i = 0; i < port->n_addresses; i++)
		if (port->addresses[i].address.ss_family != AF_UNSPEC)
			return true;
	return false;
}

const struct device_port *inventory_best_of(const struct device_list *list,
					    const struct inventory_wish *wish)
{
	const struct device_port *best = NULL;
	unsigned int best_rank = 0;

	for (size_t i = 0; i < list->n_ports; i++) {
		const struct device_port *port = &list->ports[i];
		unsigned int rank_of =
			1 + 2 * inventory_is_active(port) + inventory_has_address(port);

		if (inventory_is_wanted(port, wish) && rank_of > best_rank) {
			best = port;
			best_rank = rank_of;
		}
	}
	return best;
}

const struct device_port *inventory_best(const struct device_list *list, const char *wish)
{
	return inventory_best_of(list, &(struct inventory_wish){.device = wish});
}

bool inventory_has_device(const struct device_list *list, const char *wish)
{
	for (size_t i = 0; i < list->n_ports; i++)
		if (is_named(&list->ports[i], wish))
			return true;
	return false;
}

int inventory_no_port(const struct device_list *list, const struct inventory_wish *wish,
		      struct error *error)
{
	char ports[160] = "";
	size_t used = 0;

	for (size_t i = 0; i < list->n_ports && used < sizeof(ports); i++)
		if (!wish->device || is_named(&list->ports[i], wish->device))
			used += (size_t)snprintf(ports + used, sizeof(ports) - used, "%s%s/%u",
						 used ? ", " : "", list->ports[i].device,
						 list->ports[i].port);
	if (wish->device)
		return error_set(error, -ENODEV, "%.40s has no port %u; available: %s",
				 wish->device, wish->device_port, ports);
	return error_set(error, -ENODEV, "no device has port %u; available: %s", wish->device_port,
			 ports);
}

int inventory_unknown(const struct device_list *list, const char *wish, struct error *error)
{
	const char *slash = strrchr(wish, '/');
	char device[64] = "";
	struct inventory_wish of = {.device = device};
	unsigned long port;
	char *end;

	if (slash) {
		snprintf(device, sizeof(device), "%.*s", (int)(slash - wish), wish);
		port = strtoul(slash + 1, &end, 10);
		of.device_port = (uint8_t)port;
		if (port && port <= UINT8_MAX && !*end && inventory_has_device(list, device))
			return inventory_no_port(list, &of, error);
	}
	return device_unknown(list, wish, error);
}

int inventory_keep(struct device_list *list, const char *wish, struct error *error)
{
	size_t kept = 0;

	if (!wish)
		return 0;
	if (!inventory_has_device(list, wish))
		return inventory_unknown(list, wish, error);
	for (size_t i = 0; i < list->n_ports; i++) {
		if (is_named(&list->ports[i], wish))
			list->ports[kept++] = list->ports[i];
		else
			free(list->ports[i].addresses);
	}
	list->n_ports = kept;
	return 0;
}
