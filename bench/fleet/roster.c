/* SPDX-License-Identifier: MIT */
#include "bench/fleet/roster.h"

#include <errno.h>
#include <ifaddrs.h>
#include <jansson.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/address.h"
#include "core/base/printable.h"
#include "core/base/sysfs.h"
#include "reports/fleet/document.h"

#define ADDRESSES_MOST 32

/* Identifies the network namespace of a running kernel, whose addresses this process shares. */
static void find_place(char place[static 128])
{
	char boot[48] = "";
	char network[64] = "";
	ssize_t length = readlink("/proc/self/ns/net", network, sizeof(network) - 1);

	if (length > 0)
		network[length] = '\0';
	sysfs_line("", boot, sizeof(boot), "/proc/sys/kernel/random/boot_id");
	snprintf(place, 128, "%s %s", boot, network);
}

static unsigned int count_bits(const struct sockaddr *mask)
{
	const uint8_t *bytes =
		mask->sa_family == AF_INET
			? (const uint8_t *)&((const struct sockaddr_in *)(const void *)mask)
				  ->sin_addr
			: (const uint8_t *)&((const struct sockaddr_in6 *)(const void *)mask)
				  ->sin6_addr;
	size_t length = mask->sa_family == AF_INET ? 4 : 16;
	unsigned int bits = 0;

	for (size_t i = 0; i < length; i++)
		bits += (unsigned int)__builtin_popcount(bytes[i]);
	return bits;
}

/* Returns whether other hosts may reach this address. */
static bool is_useful(const struct ifaddrs *one)
{
	if (!one->ifa_addr || !one->ifa_netmask || !(one->ifa_flags & IFF_UP) ||
	    (one->ifa_flags & IFF_LOOPBACK))
		return false;
	if (one->ifa_addr->sa_family != AF_INET && one->ifa_addr->sa_family != AF_INET6)
		return false;
	return !address_is_link_local(one->ifa_addr);
}

static json_t *list_addresses(void)
{
	json_t *list = json_array();
	struct ifaddrs *all = NULL;
	char text[ADDRESS_TEXT];

	if (getifaddrs(&all))
		return list;
	for (const struct ifaddrs *one = all; one; one = one->ifa_next)
		if (is_useful(one) && json_array_size(list) < ADDRESSES_MOST)
			json_array_append_new(list,
					      json_string(address_text_bare(one->ifa_addr, text)));
	freeifaddrs(all);
	return list;
}

char *roster_write(const struct fleet_node *node, const struct node_server *server)
{
	char place[128];
	json_t *entry;
	char *text;

	find_place(place);
	entry = json_pack("{s:o, s:s, s:o, s:i, s:s}", "node", fleet_node_encode(node), "place",
			  place, "addresses", list_addresses(), "port", (int)server->port, "token",
			  server->token);
	text = entry ? json_dumps(entry, JSON_COMPACT) : NULL;
	json_decref(entry);
	return text;
}

/* Returns whether this host has an address in the network of that one. */
static bool is_near(const struct ifaddrs *all, const char *text)
{
	struct sockaddr_storage address;

	if (!address_parse(&address, text))
		return false;
	for (const struct ifaddrs *one = all; one; one = one->ifa_next)
		if (is_useful(one) &&
		    address_same_network(one->ifa_addr, (const struct sockaddr *)&address,
					 count_bits(one->ifa_netmask)))
			return true;
	return false;
}

/* Chooses an address in a common network; otherwise the name of the host. */
static void choose_address(const json_t *addresses, const struct fleet_node *node,
			   struct pair_server *server)
{
	struct ifaddrs *all = NULL;
	json_t *address;
	size_t i;

	snprintf(server->host, sizeof(server->host), "%s", node->host);
	if (getifaddrs(&all))
		return;
	json_array_foreach(addresses, i, address)
	{
		const char *text = json_string_value(address);

		if (!text || strlen(text) >= sizeof(server->host) || !is_near(all, text))
			continue;
		snprintf(server->host, sizeof(server->host), "%s", text);
		break;
	}
	freeifaddrs(all);
}

int roster_read(const char *text, struct fleet_node *node, struct pair_server *server,
		struct error *error)
{
	json_t *entry = json_loads(text, 0, NULL);
	json_t *described = NULL;
	json_t *addresses = NULL;
	const char *place = "";
	const char *token = "";
	char own[128];
	int port = 0;
	int code = 0;

	if (json_unpack(entry, "{s:o, s:s, s:o, s:i, s:s}", "node", &described, "place", &place,
			"addresses", &addresses, "port", &port, "token", &token) ||
	    port <= 0 || port > UINT16_MAX)
		code = error_set(error, -EPROTO, "malformed entry; do all ranks run one version?");
	if (!code)
		code = fleet_node_parse(node, described, error);
	if (!code) {
		find_place(own);
		server->port = (uint16_t)port;
		printable_copy(server->token, sizeof(server->token), token);
		if (!strcmp(own, place))
			snprintf(server->host, sizeof(server->host), "127.0.0.1");
		else
			choose_address(addresses, node, server);
	}
	json_decref(entry);
	return code;
}
