/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bench/host/inventory_ports.h"
#include "core/base/address.h"
#include "core/base/compiler.h"

/* Room for a suggestion. */
#define REMEDY 128

/* A port and one of its addresses; NULL: no address. */
struct end {
	const struct device_port *port;
	const struct device_address *address;
};

/* A pair of ends, and how well they match; 0: none found. */
struct choice {
	struct end local;
	struct end remote;
	uint64_t score;
};

/* The best pairs so far. */
struct search {
	const struct inventory_wish *wish;
	struct sockaddr_storage host; /* AF_UNSPEC: given as a name */
	struct choice shared;         /* in the same network */
	struct choice routed;         /* in two networks, between which there may be a route */
	struct choice bare;           /* without addresses, for --connect qp */
	bool is_mixed;                /* a candidate pair had one software device and one other */
};

static const struct sockaddr *plain(const struct device_address *address)
{
	return (const struct sockaddr *)&address->address;
}

static bool is_link_local(const struct device_address *address)
{
	return address_is_link_local(plain(address));
}

static bool is_one_family(const struct device_address *a, const struct device_address *b)
{
	return a->address.ss_family == b->address.ss_family && a->address.ss_family != AF_UNSPEC;
}

/* Returns whether it is the address that the user gave. */
static bool is_the_hosts(const struct search *search, const struct device_address *remote)
{
	return search->host.ss_family == remote->address.ss_family &&
	       address_equal((const struct sockaddr *)&search->host, plain(remote));
}

/* Returns whether the ports have addresses whose prefix identifies a network. */
static bool has_global(const struct device_port *local, const struct device_port *remote)
{
	for (size_t i = 0; i < local->n_addresses; i++)
		for (size_t j = 0; j < remote->n_addresses; j++)
			if (is_one_family(&local->addresses[i], &remote->addresses[j]) &&
			    !is_link_local(&local->addresses[i]) &&
			    !is_link_local(&remote->addresses[j]))
				return true;
	return false;
}

static uint64_t rate_of(const struct end *local, const struct end *remote)
{
	return 1 + 4 * min_u64(local->port->rate_mbps, remote->port->rate_mbps);
}

static uint64_t rank(const struct search *search, const struct end *local, const struct end *remote)
{
	uint64_t score = rate_of(local, remote);
	bool is_local = is_link_local(local->address) || is_link_local(remote->address);

	score += !strcmp(local->port->link_layer, remote->port->link_layer) ? 1ULL << 60 : 0;
	score += is_local ? 0 : 1ULL << 59;
	if (is_the_hosts(search, remote->address))
		score += 2;
	/* On one machine all addresses are equally good; prefer a single one for both ends. */
	return score + address_equal(plain(local->address), plain(remote->address));
}

static void keep(struct choice *best, const struct end *local, const struct end *remote,
		 uint64_t score)
{
	if (score > best->score)
		*best = (struct choice){*local, *remote, score};
}

static void consider_addresses(struct search *search, const struct end *local,
			       const struct end *remote)
{
	if (!is_one_family(local->address, remote->address))
		return;
	if (!address_same_network(plain(local->address), plain(remote->address),
				  local->address->prefix))
		keep(&search->routed, local, remote, rank(search, local, remote));
	/* Link-local prefixes are all equal, so they prove nothing if there are other addresses. */
	else if (!is_link_local(local->address) || is_the_hosts(search, remote->address) ||
		 !has_global(local->port, remote->port))
		keep(&search->shared, local, remote, rank(search, local, remote));
}

/* InfiniBand and RoCE have addresses of their own, so ports may be used without IP addresses. */
static void consider_bare(struct search *search, const struct end *local, const struct end *remote)
{
	const char *link_layer = local->port->link_layer;

	if (!strcmp(link_layer, remote->port->link_layer) && strcmp(link_layer, "iWARP") != 0)
		keep(&search->bare, local, remote, rate_of(local, remote));
}

static void consider_ports(struct search *search, const struct device_port *a,
			   const struct device_port *b)
{
	struct end local = {.port = a};
	struct end remote = {.port = b};

	if ((a->kind == DEVICE_KIND_SOFT) != (b->kind == DEVICE_KIND_SOFT)) {
		search->is_mixed = true;
		return;
	}
	if (!inventory_has_address(a) || !inventory_has_address(b)) {
		consider_bare(search, &local, &remote);
		return;
	}
	for (size_t i = 0; i < a->n_addresses; i++) {
		local.address = &a->addresses[i];
		for (size_t j = 0; j < b->n_addresses; j++) {
			remote.address = &b->addresses[j];
			consider_addresses(search, &local, &remote);
		}
	}
}

/* Returns the request that concerns the server. */
static struct inventory_wish server_wish(const struct inventory_wish *wish)
{
	return (struct inventory_wish){.device = wish->server_device};
}

static void consider_all(struct search *search, const struct device_list *local,
			 const struct device_list *remote)
{
	const struct inventory_wish remote_wish = server_wish(search->wish);

	for (size_t i = 0; i < local->n_ports; i++) {
		const struct device_port *port = &local->ports[i];

		if (!inventory_is_active(port) || !inventory_is_wanted(port, search->wish))
			continue;
		for (size_t j = 0; j < remote->n_ports; j++)
			if (inventory_is_active(&remote->ports[j]) &&
			    inventory_is_wanted(&remote->ports[j], &remote_wish))
				consider_ports(search, port, &remote->ports[j]);
	}
}

static bool has_port(const struct device_list *list, const struct inventory_wish *wish)
{
	for (size_t i = 0; i < list->n_ports; i++)
		if (inventory_is_wanted(&list->ports[i], wish))
			return true;
	return false;
}

static void fill(struct result_end *end, const struct end *from)
{
	snprintf(end->device, sizeof(end->device), "%s", from->port->device);
	end->address[0] = '\0';
	if (from->address)
		address_text(plain(from->address), end->address);
	end->port = from->port->port;
	end->kind = device_kind_name(from->port->kind);
	end->link_layer = from->port->link_layer;
	end->rate_mbps = from->port->rate_mbps;
	end->mtu = from->port->active_mtu;
}

/* Suggests another device at one end that shares a network with the device of the other. */
static bool find_remedy(char text[static REMEDY], const struct device_list *local,
			const struct device_list *remote, const struct inventory_wish *wish)
{
	struct inventory_wish other = *wish;
	struct search search = {.wish = &other};

	other.server_device = NULL;
	consider_all(&search, local, remote);
	if (search.shared.score) {
		snprintf(text, REMEDY, "try --server-device %s", search.shared.remote.port->device);
		return true;
	}
	other.server_device = wish->server_device;
	other.device = NULL;
	other.device_port = 0;
	consider_all(&search, local, remote);
	if (search.shared.score && wish->device_port)
		snprintf(text, REMEDY, "try -d %s -i %u", search.shared.local.port->device,
			 search.shared.local.port->port);
	else if (search.shared.score)
		snprintf(text, REMEDY, "try -d %s", search.shared.local.port->device);
	return search.shared.score;
}

/* Returns the command that gives a port an address. */
static const char *need_of(const struct device_port *port)
{
	if (!strcmp(port->link_layer, "InfiniBand"))
		return "use 'modprobe ib_ipoib' and 'ip address add', or --connect qp";
	return strcmp(port->link_layer, "iWARP") ? "use 'ip address add', or --connect qp"
						 : "use 'ip address add'";
}

/* Returns the best of the ports that were named if even that one cannot be used, else NULL. */
static const struct device_port *useless(const struct device_list *list,
					 const struct inventory_wish *wish, bool is_by_hand)
{
	const struct device_port *port = inventory_best_of(list, wish);

	if (!port || (!wish->device && !wish->device_port))
		return NULL;
	return inventory_is_active(port) && (is_by_hand || inventory_has_address(port)) ? NULL
											: port;
}

/* whose: the host's name as a prefix, "n02's ", or "". */
static int explain_port(const struct device_port *port, const char *whose, const char *remedy,
			struct error *error)
{
	if (!inventory_is_active(port))
		return error_set(error, -ENETUNREACH, "%s%s/%u is %s; %s", whose, port->device,
				 port->port, device_state_name(port->state),
				 remedy ? remedy : "run 'verbmark doctor' on that host");
	return error_set(error, -ENETUNREACH, "%s%s/%u has no IP address; %s", whose, port->device,
			 port->port, remedy ? remedy : need_of(port));
}

/* If the failure is due to a port that was named, sets the error; otherwise returns 0. */
static int explain_ports(const struct device_list *local, const struct device_list *remote,
			 const struct inventory_wish *wish, const char *remedy, struct error *error)
{
	const struct inventory_wish remote_wish = server_wish(wish);
	const struct device_port *port = useless(local, wish, wish->is_by_hand);
	char whose[80];

	if (port)
		return explain_port(port, "", remedy, error);
	port = useless(remote, &remote_wish, wish->is_by_hand);
	snprintf(whose, sizeof(whose), "%.60s's ", wish->who);
	return port ? explain_port(port, whose, remedy, error) : 0;
}

static int no_pair(const struct search *search, const char *remedy, struct error *error)
{
	const struct choice *routed = &search->routed;
	char local[ADDRESS_TEXT];
	char remote[ADDRESS_TEXT];

	if (!routed->score && search->is_mixed)
		return error_set(
			error, -ENETUNREACH,
			"soft0, the software device, reaches only soft0: use --device soft0 at "
			"both ends, on the same machine");
	if (!routed->score)
		return error_set(
			error, -ENETUNREACH,
			"no active ports of both ends have addresses of the same family; %s",
			search->bare.score ? need_of(search->bare.local.port)
					   : "run 'verbmark devices' on both hosts");
	return error_set(
		error, -ENETUNREACH, "%s (%s/%u) and %s's %s (%s/%u) share no network; %s",
		routed->local.port->device, address_text(plain(routed->local.address), local),
		routed->local.address->prefix, search->wish->who, routed->remote.port->device,
		address_text(plain(routed->remote.address), remote), routed->remote.address->prefix,
		remedy ? remedy : "if there is a route, name both devices: -d and --server-device");
}

/* Returns the best pair, or NULL. */
static const struct choice *choose(const struct search *search)
{
	const struct inventory_wish *wish = search->wish;

	if (search->shared.score)
		return &search->shared;
	/* A user who names both devices knows of a route between their networks. */
	if (wish->device && wish->server_device && search->routed.score)
		return &search->routed;
	return wish->is_by_hand && search->bare.score ? &search->bare : NULL;
}

int inventory_pair(const struct device_list *local, const struct device_list *remote,
		   const struct inventory_wish *wish, struct result_end *client,
		   struct result_end *server, struct error *error)
{
	struct search search = {.wish = wish};
	const struct choice *found;
	const char *remedy = NULL;
	char text[REMEDY];

	if (wish->device && !inventory_has_device(local, wish->device))
		return inventory_unknown(local, wish->device, error);
	if (!has_port(local, wish))
		return inventory_no_port(local, wish, error);
	if (wish->server_device && !inventory_has_device(remote, wish->server_device)) {
		inventory_unknown(remote, wish->server_device, error);
		return error_wrap(error, "%s", wish->who);
	}
	if (!address_parse(&search.host, wish->host))
		search.host.ss_family = AF_UNSPEC;
	consider_all(&search, local, remote);
	found = choose(&search);
	if (!found) {
		if (find_remedy(text, local, remote, wish))
			remedy = text;
		if (explain_ports(local, remote, wish, remedy, error))
			return error->code;
		return no_pair(&search, remedy, error);
	}
	fill(client, &found->local);
	fill(server, &found->remote);
	return 0;
}
