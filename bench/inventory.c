/* SPDX-License-Identifier: MIT */
#include "bench/inventory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/wire.h"
#include "core/address.h"

#define PORTS_MAX     256
#define ADDRESSES_MAX 256

/* Room for what to try. */
#define REMEDY 128

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
			 port->device, "port", port->port, "kind", kind_name(port->kind), "state",
			 device_state_name(port->state), "link_layer", port->link_layer,
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
	return error_set(error, -EPROTO, "the other end's list of devices is malformed: %s",
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
	wire_printable(address->interface, sizeof(address->interface), interface);
	/* A zone of the other machine means nothing here, and then the whole address. */
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

/* One of the names that are known: the list must not keep pointers into the message. */
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
		return error_set(error, -EPROTO, "the other end has %zu addresses on one port",
				 count);
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
		return error_set(error, -EPROTO, "the other end lists port %d of a device", number);
	*port = (struct device_port){.port = (uint8_t)number,
				     .kind = kind_named(kind),
				     .state = decode_state(state),
				     .link_layer = decode_link_layer(link_layer),
				     .rate_mbps = rate < 0 ? 0 : (uint64_t)rate,
				     .active_mtu = mtu < 0 ? 0 : (unsigned int)mtu,
				     .numa_node = -1};
	wire_printable(port->device, sizeof(port->device), device);
	return decode_addresses(port, addresses, error);
}

int inventory_decode(struct device_list *list, const json_t *json, struct error *error)
{
	size_t count = json_array_size(json);
	int code = 0;

	*list = (struct device_list){0};
	if (!count || count > PORTS_MAX)
		return error_set(
			error, -EPROTO, "the other end lists %zu ports of devices%s", count,
			count ? ", more than are understood: 'serve --device' there offers those of one"
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

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static bool is_link_local(const struct device_address *address)
{
	return address_is_link_local(plain(address));
}

static bool is_one_family(const struct device_address *a, const struct device_address *b)
{
	return a->address.ss_family == b->address.ss_family && a->address.ss_family != AF_UNSPEC;
}

/* One that means anything here. */
static bool has_address(const struct device_port *port)
{
	for (size_t i = 0; i < port->n_addresses; i++)
		if (port->addresses[i].address.ss_family != AF_UNSPEC)
			return true;
	return false;
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
	return 1 + 4 * least(near->port->rate_mbps, far->port->rate_mbps);
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

	if ((a->kind == KIND_SOFT) != (b->kind == KIND_SOFT)) {
		search->is_mixed = true;
		return;
	}
	if (!has_address(a) || !has_address(b)) {
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

/* The port can be told as well. */
static bool is_wanted(const struct device_port *port, const struct inventory_wish *wish)
{
	return (!wish->device || is_named(port, wish->device)) &&
	       (!wish->device_port || port->port == wish->device_port);
}

/* What is wished for of the other end. */
static struct inventory_wish far_wish(const struct inventory_wish *wish)
{
	return (struct inventory_wish){.device = wish->server_device};
}

static bool is_active(const struct device_port *port)
{
	return port->state == IBV_PORT_ACTIVE;
}

static void consider_all(struct search *search, const struct device_list *local,
			 const struct device_list *remote)
{
	const struct inventory_wish far = far_wish(search->wish);

	for (size_t i = 0; i < local->n_ports; i++) {
		const struct device_port *port = &local->ports[i];

		if (!is_active(port) || !is_wanted(port, search->wish))
			continue;
		for (size_t j = 0; j < remote->n_ports; j++)
			if (is_active(&remote->ports[j]) && is_wanted(&remote->ports[j], &far))
				consider_ports(search, port, &remote->ports[j]);
	}
}

static const struct device_port *best_of(const struct device_list *list,
					 const struct inventory_wish *wish)
{
	const struct device_port *best = NULL;
	unsigned int best_rank = 0;

	for (size_t i = 0; i < list->n_ports; i++) {
		const struct device_port *port = &list->ports[i];
		unsigned int rank_of = 1 + 2 * is_active(port) + has_address(port);

		if (is_wanted(port, wish) && rank_of > best_rank) {
			best = port;
			best_rank = rank_of;
		}
	}
	return best;
}

const struct device_port *inventory_best(const struct device_list *list, const char *wish)
{
	return best_of(list, &(struct inventory_wish){.device = wish});
}

static bool has_device(const struct device_list *list, const char *wish)
{
	for (size_t i = 0; i < list->n_ports; i++)
		if (is_named(&list->ports[i], wish))
			return true;
	return false;
}

/* The ports of what is wished for are told, or all that there are. */
static int no_port(const struct device_list *list, const struct inventory_wish *wish,
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
		return error_set(error, -ENODEV, "%.40s has no port %u; there is %s", wish->device,
				 wish->device_port, ports);
	return error_set(error, -ENODEV, "no device has a port %u; there is %s", wish->device_port,
			 ports);
}

int inventory_unknown(const struct device_list *list, const char *wish, struct error *error)
{
	const char *slash = strrchr(wish, '/');
	char device[64] = "";
	struct inventory_wish of = {.device = device};
	char *end;

	if (slash) {
		snprintf(device, sizeof(device), "%.*s", (int)(slash - wish), wish);
		of.device_port = (unsigned int)strtoul(slash + 1, &end, 10);
		if (of.device_port && !*end && has_device(list, device))
			return no_port(list, &of, error);
	}
	return device_unknown(list, wish, error);
}

int inventory_keep(struct device_list *list, const char *wish, struct error *error)
{
	size_t kept = 0;

	if (!wish)
		return 0;
	if (!has_device(list, wish))
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

static bool has_port(const struct device_list *list, const struct inventory_wish *wish)
{
	for (size_t i = 0; i < list->n_ports; i++)
		if (is_wanted(&list->ports[i], wish))
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
	end->kind = kind_name(from->port->kind);
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
	const struct device_port *port = best_of(list, wish);

	if (!port || (!wish->device && !wish->device_port))
		return NULL;
	return is_active(port) && (is_by_hand || has_address(port)) ? NULL : port;
}

/* Whose it is, with a blank behind, or nothing. */
static int blame_port(const struct device_port *port, const char *whose, const char *remedy,
		      struct error *error)
{
	if (!is_active(port))
		return error_set(error, -ENETUNREACH, "%s%s/%u is %s; %s", whose, port->device,
				 port->port, device_state_name(port->state),
				 remedy ? remedy : "verbmark doctor on that host tells more");
	return error_set(error, -ENETUNREACH, "%s%s/%u has no IP address; %s", whose, port->device,
			 port->port, remedy ? remedy : need_of(port));
}

/* Where it is for what a port is that was named; 0: it is not. */
static int blame_ports(const struct device_list *local, const struct device_list *remote,
		       const struct inventory_wish *wish, const char *remedy, struct error *error)
{
	const struct inventory_wish far = far_wish(wish);
	const struct device_port *port = useless(local, wish, wish->is_by_hand);
	char whose[80];

	if (port)
		return blame_port(port, "", remedy, error);
	port = useless(remote, &far, wish->is_by_hand);
	snprintf(whose, sizeof(whose), "%.60s's ", wish->who);
	return port ? blame_port(port, whose, remedy, error) : 0;
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

	if (wish->device && !has_device(local, wish->device))
		return inventory_unknown(local, wish->device, error);
	if (!has_port(local, wish))
		return no_port(local, wish, error);
	if (wish->server_device && !has_device(remote, wish->server_device)) {
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
		if (blame_ports(local, remote, wish, remedy, error))
			return error->code;
		return no_pair(&search, remedy, error);
	}
	fill(near, &found->near);
	fill(far, &found->far);
	return 0;
}
