/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bench/host/inventory_ports.h"
#include "core/base/address.h"
#include "core/base/compiler.h"

/* Room for what to try. */
#define REMEDY 128

/* A port with one of its addresses; NULL: with none. */
struct end {
	const struct device_port *port;
	const struct device_address *address;
};

/* Two of them, and how well they suit; 0: there are none. */
struct choice {
	struct end near;
	struct end far;
	uint64_t score;
};

/* The best ones so far. */
struct search {
	const struct inventory_wish *wish;
	struct sockaddr_storage host; /* AF_UNSPEC: a name */
	struct choice shared;         /* of one network */
	struct choice routed;         /* of two, between which there may be a route */
	struct choice bare;           /* of none: for queue pairs that are connected by hand */
	bool is_mixed;                /* one of two ends is the software device */
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

/* The address that the user wrote down. */
static bool is_the_hosts(const struct search *search, const struct device_address *far)
{
	return search->host.ss_family == far->address.ss_family &&
	       address_equal((const struct sockaddr *)&search->host, plain(far));
}

/* Addresses of which the prefix says where they are. */
static bool has_global(const struct device_port *near, const struct device_port *far)
{
	for (size_t i = 0; i < near->n_addresses; i++)
		for (size_t j = 0; j < far->n_addresses; j++)
			if (is_one_family(&near->addresses[i], &far->addresses[j]) &&
			    !is_link_local(&near->addresses[i]) &&
			    !is_link_local(&far->addresses[j]))
				return true;
	return false;
}

static uint64_t rate_of(const struct end *near, const struct end *far)
{
	return 1 + 4 * min_u64(near->port->rate_mbps, far->port->rate_mbps);
}

static uint64_t rank(const struct search *search, const struct end *near, const struct end *far)
{
	uint64_t score = rate_of(near, far);
	bool is_local = is_link_local(near->address) || is_link_local(far->address);

	score += !strcmp(near->port->link_layer, far->port->link_layer) ? 1ULL << 60 : 0;
	score += is_local ? 0 : 1ULL << 59;
	if (is_the_hosts(search, far->address))
		score += 2;
	/* One address of this machine is as near as any other, and it has one name. */
	return score + address_equal(plain(near->address), plain(far->address));
}

static void keep(struct choice *best, const struct end *near, const struct end *far, uint64_t score)
{
	if (score > best->score)
		*best = (struct choice){*near, *far, score};
}

static void consider_addresses(struct search *search, const struct end *near, const struct end *far)
{
	if (!is_one_family(near->address, far->address))
		return;
	if (!address_same_network(plain(near->address), plain(far->address), near->address->prefix))
		keep(&search->routed, near, far, rank(search, near, far));
	/* Link-local prefixes are all alike, and say nothing where there are others. */
	else if (!is_link_local(near->address) || is_the_hosts(search, far->address) ||
		 !has_global(near->port, far->port))
		keep(&search->shared, near, far, rank(search, near, far));
}

/* Fabrics have addresses of their own: of InfiniBand there need be no others. */
static void consider_bare(struct search *search, const struct end *near, const struct end *far)
{
	const char *link_layer = near->port->link_layer;

	if (!strcmp(link_layer, far->port->link_layer) && strcmp(link_layer, "iWARP") != 0)
		keep(&search->bare, near, far, rate_of(near, far));
}

static void consider_ports(struct search *search, const struct device_port *a,
			   const struct device_port *b)
{
	struct end near = {.port = a};
	struct end far = {.port = b};

	if ((a->kind == DEVICE_KIND_SOFT) != (b->kind == DEVICE_KIND_SOFT)) {
		search->is_mixed = true;
		return;
	}
	if (!inventory_has_address(a) || !inventory_has_address(b)) {
		consider_bare(search, &near, &far);
		return;
	}
	for (size_t i = 0; i < a->n_addresses; i++) {
		near.address = &a->addresses[i];
		for (size_t j = 0; j < b->n_addresses; j++) {
			far.address = &b->addresses[j];
			consider_addresses(search, &near, &far);
		}
	}
}

/* What is wished for of the other end. */
static struct inventory_wish far_wish(const struct inventory_wish *wish)
{
	return (struct inventory_wish){.device = wish->server_device};
}

static void consider_all(struct search *search, const struct device_list *local,
			 const struct device_list *remote)
{
	const struct inventory_wish far = far_wish(search->wish);

	for (size_t i = 0; i < local->n_ports; i++) {
		const struct device_port *port = &local->ports[i];

		if (!inventory_is_active(port) || !inventory_is_wanted(port, search->wish))
			continue;
		for (size_t j = 0; j < remote->n_ports; j++)
			if (inventory_is_active(&remote->ports[j]) &&
			    inventory_is_wanted(&remote->ports[j], &far))
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

/* What to try: another device, of one end alone, that shares a network with the other's. */
static bool find_remedy(char text[static REMEDY], const struct device_list *local,
			const struct device_list *remote, const struct inventory_wish *wish)
{
	struct inventory_wish other = *wish;
	struct search search = {.wish = &other};

	other.server_device = NULL;
	consider_all(&search, local, remote);
	if (search.shared.score) {
		snprintf(text, REMEDY, "try --server-device %s", search.shared.far.port->device);
		return true;
	}
	other.server_device = wish->server_device;
	other.device = NULL;
	other.device_port = 0;
	consider_all(&search, local, remote);
	if (search.shared.score && wish->device_port)
		snprintf(text, REMEDY, "try -d %s -i %u", search.shared.near.port->device,
			 search.shared.near.port->port);
	else if (search.shared.score)
		snprintf(text, REMEDY, "try -d %s", search.shared.near.port->device);
	return search.shared.score;
}

/* What a port needs that has no address. */
static const char *need_of(const struct device_port *port)
{
	if (!strcmp(port->link_layer, "InfiniBand"))
		return "modprobe ib_ipoib and ip address add, or --connect qp";
	return strcmp(port->link_layer, "iWARP") ? "ip address add, or --connect qp"
						 : "ip address add";
}

/* Of ports that were named the best one, where even that cannot be connected from. */
static const struct device_port *useless(const struct device_list *list,
					 const struct inventory_wish *wish, bool is_by_hand)
{
	const struct device_port *port = inventory_best_of(list, wish);

	if (!port || (!wish->device && !wish->device_port))
		return NULL;
	return inventory_is_active(port) && (is_by_hand || inventory_has_address(port)) ? NULL
											: port;
}

/* Whose it is, with a blank behind, or nothing. */
static int explain_port(const struct device_port *port, const char *whose, const char *remedy,
			struct error *error)
{
	if (!inventory_is_active(port))
		return error_set(error, -ENETUNREACH, "%s%s/%u is %s; %s", whose, port->device,
				 port->port, device_state_name(port->state),
				 remedy ? remedy : "verbmark doctor on that host tells more");
	return error_set(error, -ENETUNREACH, "%s%s/%u has no IP address; %s", whose, port->device,
			 port->port, remedy ? remedy : need_of(port));
}

/* Where it is for what a port is that was named; 0: it is not. */
static int explain_ports(const struct device_list *local, const struct device_list *remote,
			 const struct inventory_wish *wish, const char *remedy, struct error *error)
{
	const struct inventory_wish far = far_wish(wish);
	const struct device_port *port = useless(local, wish, wish->is_by_hand);
	char whose[80];

	if (port)
		return explain_port(port, "", remedy, error);
	port = useless(remote, &far, wish->is_by_hand);
	snprintf(whose, sizeof(whose), "%.60s's ", wish->who);
	return port ? explain_port(port, whose, remedy, error) : 0;
}

static int no_pair(const struct search *search, const char *remedy, struct error *error)
{
	const struct choice *routed = &search->routed;
	char near[ADDRESS_TEXT];
	char far[ADDRESS_TEXT];

	if (!routed->score && search->is_mixed)
		return error_set(error, -ENETUNREACH,
				 "soft0, the software device, reaches no other kind of device: "
				 "--device soft0 at both ends, which are on one machine");
	if (!routed->score)
		return error_set(
			error, -ENETUNREACH,
			"no two active ports have addresses of one family, here and there; %s",
			search->bare.score ? need_of(search->bare.near.port)
					   : "see verbmark devices on both");
	return error_set(error, -ENETUNREACH, "%s (%s/%u) and %s's %s (%s/%u) share no network; %s",
			 routed->near.port->device, address_text(plain(routed->near.address), near),
			 routed->near.address->prefix, search->wish->who, routed->far.port->device,
			 address_text(plain(routed->far.address), far), routed->far.address->prefix,
			 remedy ? remedy
				: "where there is a route, name both: -d and --server-device");
}

/* NULL: there is none. */
static const struct choice *choose(const struct search *search)
{
	const struct inventory_wish *wish = search->wish;

	if (search->shared.score)
		return &search->shared;
	/* Who names both ends knows of a route between their networks. */
	if (wish->device && wish->server_device && search->routed.score)
		return &search->routed;
	return wish->is_by_hand && search->bare.score ? &search->bare : NULL;
}

int inventory_pair(const struct device_list *local, const struct device_list *remote,
		   const struct inventory_wish *wish, struct result_end *near,
		   struct result_end *far, struct error *error)
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
	fill(near, &found->near);
	fill(far, &found->far);
	return 0;
}
