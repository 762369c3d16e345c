/* SPDX-License-Identifier: MIT */
#include "core/verbs/device_fault.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/base/sysfs.h"

#define CLASS "/sys/class/infiniband"
#define NAMES 100

/* Returns whether this is the device of core/soft, which the kernel does not know. */
static bool is_soft(const char *device)
{
	return !strcmp(device, "soft0") && device_kind_find("", device) == DEVICE_KIND_OTHER;
}

static bool is_refused(int code)
{
	return code == -EACCES || code == -EPERM;
}

/* Explains a failure of the directory where soft0's processes meet, or returns NULL. */
static const char *soft_hint(int code)
{
	if (is_refused(code))
		return "soft0's directory must belong to the user and have mode 0700: "
		       "check VERBMARK_SOFT_DIR";
	if (code == -ENOSPC)
		return "no space for soft0's directory, by default in /dev/shm: set "
		       "VERBMARK_SOFT_DIR";
	return NULL;
}

const char *device_soft_hint(int code)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	const char *hint = NULL;

	if (devices && devices[0] && is_soft(ibv_get_device_name(devices[0])))
		hint = soft_hint(code);
	if (devices)
		ibv_free_device_list(devices);
	return hint;
}

int device_not_opened(const char *device, int code, struct error *error)
{
	const char *hint = is_soft(device) ? soft_hint(code) : NULL;

	error_set_errno(error, code, "cannot open device %s", device);
	if (hint)
		return error_append(error, "%s", hint);
	if (is_refused(code))
		return error_append(error, "check the permissions of /dev/infiniband");
	return code;
}

static void add_name(char names[static NAMES], const char *name)
{
	size_t used = strlen(names);

	if (used + sizeof(", ") + 63 > NAMES)
		return;
	snprintf(names + used, NAMES - used, "%s%.63s", used ? ", " : "", name);
}

int device_none(const char *root, struct error *error)
{
	struct sysfs_names devices;
	char names[NAMES] = "";

	sysfs_names_open(&devices, root, CLASS);
	for (size_t i = 0; i < devices.count; i++)
		add_name(names, devices.name[i]);
	sysfs_names_close(&devices);
	if (names[0])
		return error_set(
			error, -ENODEV,
			"no RDMA device in user space, although the kernel has %s; install "
			"ibverbs-providers, or start the container with "
			"--device /dev/infiniband",
			names);
	return error_set(error, -ENODEV,
			 "no RDMA device; for Soft-RoCE: modprobe rdma_rxe && "
			 "rdma link add rxe0 type rxe netdev eth0");
}

int device_unknown(const struct device_list *list, const char *device, struct error *error)
{
	char names[160] = "";
	size_t length = strcspn(device, "/"); /* may be followed by a port */
	size_t used = 0;

	for (size_t i = 0; i < list->n_left; i++)
		if (strlen(list->left[i].device) == length &&
		    !strncmp(list->left[i].device, device, length))
			return error_set(error, list->left[i].fault.code, "%s",
					 list->left[i].fault.text);
	for (size_t i = 0; i < list->n_ports && used < sizeof(names); i++) {
		const char *name = list->ports[i].device;

		if (i && !strcmp(name, list->ports[i - 1].device))
			continue;
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
					 used ? ", " : "", name);
	}
	return error_set(error, -ENODEV, "no device '%.40s'; available: %s", device, names);
}

static const struct device_address *address_of(const struct device_port *port, sa_family_t family)
{
	for (size_t i = 0; i < port->n_addresses; i++)
		if (family == AF_UNSPEC || port->addresses[i].address.ss_family == family)
			return &port->addresses[i];
	return NULL;
}

int device_no_address(const struct device_list *list, const char *device, sa_family_t family,
		      struct error *error)
{
	for (size_t i = 0; i < list->n_ports; i++) {
		const struct device_port *port = &list->ports[i];
		const struct device_address *address = address_of(port, family);

		if (strcmp(port->device, device) != 0 || !address)
			continue;
		error_set(error, -EADDRNOTAVAIL, "port %u of device %s is %s", port->port, device,
			  device_state_name(port->state));
		if (port->link_layer && !strcmp(port->link_layer, "InfiniBand"))
			return error_append(error, "is a subnet manager running?");
		return error_append(error, "try 'ip link set %s up'", address->interface);
	}
	return error_set(
		error, -EADDRNOTAVAIL,
		"device %s has no active port with an %saddress; add one with 'ip address add'",
		device,
		family == AF_INET    ? "IPv4 "
		: family == AF_INET6 ? "IPv6 "
				     : "");
}
