/* SPDX-License-Identifier: MIT */
#include "core/verbs/device.h"

#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/address.h"
#include "core/base/sysfs.h"
#include "core/verbs/device_fault.h"
#include "core/verbs/limits.h"
#include "core/verbs/link_rate.h"
#include "core/verbs/verbs.h"

#define CLASS          "/sys/class/infiniband"
#define INTERFACES_MAX 64

enum {
	RANK_SAME_NETWORK = 3,
};

/* The network interfaces of one port. */
struct interfaces {
	unsigned int index[INTERFACES_MAX];
	size_t count;
};

/* State of the scan of one device. */
struct scan {
	struct ibv_context *context;
	const char *device;
	enum device_kind kind;
	struct ifaddrs *own;
	struct ibv_gid_entry *gids;
	size_t n_gids;
};

int device_numa_node(const char *device)
{
	int64_t node;

	return sysfs_number("", &node, CLASS "/%s/device/numa_node", device) ? (int)node : -1;
}

static void interfaces_add(struct interfaces *interfaces, unsigned int index)
{
	for (size_t i = 0; i < interfaces->count; i++)
		if (interfaces->index[i] == index)
			return;
	if (index && interfaces->count < INTERFACES_MAX)
		interfaces->index[interfaces->count++] = index;
}

/* Adds the device's own interfaces, for IPoIB and iWARP, whose GIDs name none. */
static void add_own_interfaces(struct interfaces *interfaces, const char *device, uint8_t port)
{
	struct sysfs_names names;
	int64_t number;

	sysfs_names_open(&names, "", CLASS "/%s/device/net", device);
	for (size_t i = 0; i < names.count; i++) {
		if (!sysfs_number("", &number, "/sys/class/net/%s/dev_port", names.name[i]))
			number = 0;
		if (number == port - 1)
			interfaces_add(interfaces, if_nametoindex(names.name[i]));
	}
	sysfs_names_close(&names);
}

static unsigned int prefix_length(const struct sockaddr *mask)
{
	const uint8_t *bytes;
	unsigned int bits = 0;
	size_t n = 0;

	if (!mask)
		return 0;
	if (mask->sa_family == AF_INET6) {
		bytes = ((const struct sockaddr_in6 *)(const void *)mask)->sin6_addr.s6_addr;
		n = 16;
	} else {
		bytes = (const uint8_t *)&((const struct sockaddr_in *)(const void *)mask)
				->sin_addr;
		n = 4;
	}
	for (size_t i = 0; i < n; i++)
		bits += (unsigned int)__builtin_popcount(bytes[i]);
	return bits;
}

static bool leads_here(const struct interfaces *interfaces, const struct ifaddrs *own)
{
	unsigned int index = if_nametoindex(own->ifa_name);

	if (!own->ifa_addr ||
	    (own->ifa_addr->sa_family != AF_INET && own->ifa_addr->sa_family != AF_INET6))
		return false;
	for (size_t i = 0; i < interfaces->count; i++)
		if (interfaces->index[i] == index)
			return true;
	return false;
}

static int add_address(struct device_port *port, const struct ifaddrs *own, struct error *error)
{
	struct device_address *larger =
		reallocarray(port->addresses, port->n_addresses + 1, sizeof(*larger));
	struct device_address *address;

	if (!larger)
		return error_set_errno(error, -ENOMEM, "cannot list devices");
	port->addresses = larger;
	address = &larger[port->n_addresses++];
	*address = (struct device_address){.prefix = prefix_length(own->ifa_netmask)};
	memcpy(&address->address, own->ifa_addr, address_length(own->ifa_addr));
	snprintf(address->interface, sizeof(address->interface), "%s", own->ifa_name);
	return 0;
}

static int add_some(struct device_port *port, const struct ifaddrs *own,
		    const struct interfaces *interfaces, bool is_loopback, struct error *error)
{
	int code = 0;

	for (; own && !code; own = own->ifa_next)
		if (leads_here(interfaces, own) && !(own->ifa_flags & IFF_LOOPBACK) == !is_loopback)
			code = add_address(port, own, error);
	return code;
}

static int add_addresses(struct device_port *port, const struct scan *scan, struct error *error)
{
	struct interfaces interfaces = {0};
	int code;

	for (size_t i = 0; i < scan->n_gids; i++)
		if (scan->gids[i].port_num == port->port)
			interfaces_add(&interfaces, scan->gids[i].ndev_ifindex);
	add_own_interfaces(&interfaces, scan->device, port->port);
	/* Some software devices are also reached through loopback: list that last. */
	code = add_some(port, scan->own, &interfaces, false, error);
	return code ? code : add_some(port, scan->own, &interfaces, true, error);
}

static const char *link_layer_name(const struct scan *scan, uint8_t link_layer)
{
	if (scan->context->device->transport_type == IBV_TRANSPORT_IWARP)
		return "iWARP";
	switch (link_layer) {
	case IBV_LINK_LAYER_ETHERNET:
		return "Ethernet";
	case IBV_LINK_LAYER_INFINIBAND:
		return "InfiniBand";
	default:
		return "unspecified";
	}
}

static int add_port(struct device_list *list, const struct scan *scan, uint8_t number,
		    struct error *error)
{
	struct device_port *larger;
	struct device_port *port;
	struct ibv_port_attr attr;
	int code = verbs_result(ibv_query_port(scan->context, number, &attr));

	if (code)
		return error_set_errno(error, code, "cannot query port %u", number);
	larger = reallocarray(list->ports, list->n_ports + 1, sizeof(*larger));
	if (!larger)
		return error_set_errno(error, -ENOMEM, "cannot list devices");
	list->ports = larger;
	port = &larger[list->n_ports++];
	*port = (struct device_port){
		.port = number,
		.kind = scan->kind,
		.state = attr.state,
		.link_layer = link_layer_name(scan, attr.link_layer),
		.rate_mbps = link_rate_mbps("", scan->device, number, attr.active_width,
					    attr.active_speed),
		.active_mtu = limits_mtu_bytes(attr.active_mtu),
		.max_mtu = limits_mtu_bytes(attr.max_mtu),
		.numa_node = device_numa_node(scan->device),
	};
	snprintf(port->device, sizeof(port->device), "%s", scan->device);
	return add_addresses(port, scan, error);
}

/* ibv_query_gid_table fails unless the table has room for all possible entries. */
static size_t count_gids(struct ibv_context *verbs, unsigned int ports)
{
	struct ibv_port_attr attr;
	size_t count = 0;

	for (unsigned int port = 1; port <= ports; port++)
		if (!ibv_query_port(verbs, (uint8_t)port, &attr) && attr.gid_tbl_len > 0)
			count += (size_t)attr.gid_tbl_len;
	return count;
}

int device_gids(struct ibv_context *verbs, unsigned int ports, struct ibv_gid_entry **gids,
		size_t *count, struct error *error)
{
	size_t room = count_gids(verbs, ports);
	ssize_t got;

	*count = 0;
	*gids = calloc(room + 1, sizeof(**gids));
	if (!*gids)
		return error_set_errno(error, -ENOMEM, "cannot list the device's GIDs");
	got = ibv_query_gid_table(verbs, *gids, room, 0);
	if (got < 0)
		return error_set_errno(error, (int)got, "cannot list the device's GIDs");
	*count = (size_t)got;
	return 0;
}

static int scan_ports(struct device_list *list, struct scan *scan, struct error *error)
{
	struct ibv_device_attr attr;
	struct error fault = {0};
	int code = verbs_result(ibv_query_device(scan->context, &attr));

	if (code)
		return error_set_errno(error, code, "cannot query the device");
	scan->kind =
		device_kind_is_soft(&attr) ? DEVICE_KIND_SOFT : device_kind_find("", scan->device);
	/* A device without GIDs is reached only through its own interfaces. */
	device_gids(scan->context, attr.phys_port_cnt, &scan->gids, &scan->n_gids, &fault);
	if (!scan->gids)
		return error_set(error, fault.code, "%s", fault.text);
	for (unsigned int port = 1; port <= attr.phys_port_cnt && !code; port++)
		code = add_port(list, scan, (uint8_t)port, error);
	free(scan->gids);
	return code;
}

static int scan_device(struct device_list *list, struct ibv_device *device, struct ifaddrs *own,
		       struct error *error)
{
	struct scan scan = {.device = ibv_get_device_name(device), .own = own};
	int code;

	scan.context = ibv_open_device(device);
	if (!scan.context)
		return device_not_opened(scan.device, verbs_null(), error);
	code = scan_ports(list, &scan, error);
	if (code)
		error_wrap(error, "device %s", scan.device);
	ibv_close_device(scan.context);
	return code;
}

int device_require(struct error *error)
{
	int count = 0;
	struct ibv_device **devices = ibv_get_device_list(&count);

	if (!devices && errno && errno != ENOSYS)
		return error_set_errno(error, -errno, "cannot list RDMA devices");
	if (devices)
		ibv_free_device_list(devices);
	return count ? 0 : device_none("", error);
}

/* Records a device that cannot be used, and continues with the others. */
static void leave_out(struct device_list *list, const char *device, const struct error *fault)
{
	struct device_left *larger = reallocarray(list->left, list->n_left + 1, sizeof(*larger));

	if (!larger)
		return;
	list->left = larger;
	snprintf(larger[list->n_left].device, sizeof(larger[0].device), "%s", device);
	larger[list->n_left++].fault = *fault;
}

static void scan_all(struct device_list *list, struct ibv_device **devices, struct ifaddrs *own,
		     struct error *first)
{
	for (size_t i = 0; devices[i]; i++) {
		struct error fault = {0};

		if (!scan_device(list, devices[i], own, &fault))
			continue;
		leave_out(list, ibv_get_device_name(devices[i]), &fault);
		error_set(first, fault.code, "%s", fault.text);
	}
}

int device_list_open(struct device_list *list, struct error *error)
{
	struct ibv_device **devices;
	struct error fault = {0};
	struct ifaddrs *own = NULL;
	int code = device_require(error);

	*list = (struct device_list){0};
	if (code)
		return code;
	devices = ibv_get_device_list(NULL);
	if (!devices)
		return error_set_errno(error, verbs_null(), "cannot list RDMA devices");
	if (getifaddrs(&own))
		code = error_set_errno(error, -errno, "cannot list network addresses");
	else
		scan_all(list, devices, own, &fault);
	if (own && !list->n_ports)
		code = error_set(error, fault.code ? fault.code : -ENODEV, "%s",
				 fault.code ? fault.text : "no RDMA device has a port");
	if (own)
		freeifaddrs(own);
	ibv_free_device_list(devices);
	if (code)
		device_list_close(list);
	return code;
}

void device_list_close(struct device_list *list)
{
	for (size_t i = 0; i < list->n_ports; i++)
		free(list->ports[i].addresses);
	free(list->ports);
	free(list->left);
	*list = (struct device_list){0};
}

static int no_such(const char *device, struct error *error)
{
	struct device_list list;
	int code = device_list_open(&list, error);

	if (!code)
		code = device_unknown(&list, device, error);
	device_list_close(&list);
	return code;
}

static int open_own(struct device_handle *handle, const char *device, struct error *error)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	int code = -ENODEV;

	for (size_t i = 0; devices && devices[i] && !handle->verbs; i++) {
		if (strcmp(ibv_get_device_name(devices[i]), device) != 0)
			continue;
		handle->verbs = ibv_open_device(devices[i]);
		code = handle->verbs ? 0 : device_not_opened(device, verbs_null(), error);
	}
	if (devices)
		ibv_free_device_list(devices);
	return code == -ENODEV ? no_such(device, error) : code;
}

int device_open(struct device_handle *handle, const char *device, struct error *error)
{
	*handle = (struct device_handle){.held = rdma_get_devices(NULL)};
	for (size_t i = 0; handle->held && handle->held[i]; i++) {
		handle->verbs = handle->held[i];
		if (!strcmp(ibv_get_device_name(handle->verbs->device), device))
			return 0;
	}
	device_close(handle);
	return open_own(handle, device, error);
}

void device_close(struct device_handle *handle)
{
	if (handle->held)
		rdma_free_devices(handle->held);
	else if (handle->verbs)
		ibv_close_device(handle->verbs);
	*handle = (struct device_handle){0};
}

/*
 * Returns how well an address of the device suits: higher is better, 0 is unusable. A
 * link-local address is ambiguous without its zone, so it ranks last.
 */
static unsigned int rank(const struct device_address *address, sa_family_t family,
			 const struct sockaddr *remote)
{
	const struct sockaddr *own = (const struct sockaddr *)&address->address;

	if (family != AF_UNSPEC && own->sa_family != family)
		return 0;
	if (remote && address_same_network(own, remote, address->prefix))
		return RANK_SAME_NETWORK;
	return address_is_link_local(own) ? 1 : 2;
}

static int choose(const struct device_list *list, const char *device, sa_family_t family,
		  const struct sockaddr *remote, struct device_address *found)
{
	unsigned int best = 0;
	bool known = false;

	for (size_t i = 0; i < list->n_ports; i++) {
		const struct device_port *port = &list->ports[i];

		if (strcmp(port->device, device) != 0)
			continue;
		known = true;
		for (size_t j = 0; j < port->n_addresses; j++) {
			unsigned int suits = rank(&port->addresses[j], family, remote);

			if (port->state == IBV_PORT_ACTIVE && suits > best) {
				best = suits;
				*found = port->addresses[j];
			}
		}
	}
	return best ? 0 : known ? -EADDRNOTAVAIL : -ENODEV;
}

int device_find_address(const struct device_list *list, const char *device,
			const struct sockaddr *remote, struct device_address *found,
			struct error *error)
{
	sa_family_t family = remote ? remote->sa_family : AF_UNSPEC;
	int code = choose(list, device, family, remote, found);

	if (code == -ENODEV)
		return device_unknown(list, device, error);
	return code ? device_no_address(list, device, family, error) : 0;
}

int device_address(const char *ib_dev, const struct sockaddr *remote,
		   struct sockaddr_storage *address, struct error *error)
{
	struct device_address found;
	struct device_list list;
	int code;

	if (address_parse(address, ib_dev))
		return 0;
	code = device_list_open(&list, error);
	if (code)
		return code;
	code = device_find_address(&list, ib_dev, remote, &found, error);
	if (!code)
		*address = found.address;
	device_list_close(&list);
	return code;
}

bool device_is_reached_by(const struct sockaddr *remote)
{
	struct error ignored = {0};
	struct device_list list;
	bool is_reached = false;

	/* Let rdma_cm try; its error only says that there is no device. */
	if (device_list_open(&list, &ignored))
		return true;
	for (size_t i = 0; i < list.n_ports; i++)
		for (size_t j = 0; j < list.ports[i].n_addresses; j++)
			is_reached |= rank(&list.ports[i].addresses[j], remote->sa_family,
					   remote) == RANK_SAME_NETWORK;
	device_list_close(&list);
	return is_reached;
}

const char *device_state_name(enum ibv_port_state state)
{
	switch (state) {
	case IBV_PORT_DOWN:
		return "DOWN";
	case IBV_PORT_INIT:
		return "INIT";
	case IBV_PORT_ARMED:
		return "ARMED";
	case IBV_PORT_ACTIVE:
		return "ACTIVE";
	case IBV_PORT_ACTIVE_DEFER:
		return "ACTIVE_DEFER";
	case IBV_PORT_NOP:
		break;
	}
	return "NOP";
}
