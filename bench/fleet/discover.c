/* SPDX-License-Identifier: MIT */
#include "bench/fleet/discover.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/host/facts/facts.h"
#include "core/base/address.h"
#include "core/base/sysfs.h"
#include "core/verbs/device.h"
#include "reports/result/fingerprint.h"

#define PCI "/sys/bus/pci/devices"
/* PCI classes of GPUs: VGA and 3D controllers, and processing accelerators. */
#define CLASS_VGA         0x0300
#define CLASS_3D          0x0302
#define CLASS_ACCELERATOR 0x1200

/* Finds the PCI address of a device; a device without one, such as a virtual one, keeps "". */
static void find_pci(struct fleet_rail *rail)
{
	char name[sizeof(rail->pci)];

	if (!sysfs_link("", name, sizeof(name), "/sys/class/infiniband/%s/device", rail->device))
		return;
	if (strchr(name, ':'))
		snprintf(rail->pci, sizeof(rail->pci), "%s", name);
}

static bool is_gpu(const char *pci)
{
	int64_t code;

	if (!sysfs_number("", &code, PCI "/%s/class", pci))
		return false;
	code >>= 8;
	return code == CLASS_VGA || code == CLASS_3D || code == CLASS_ACCELERATOR;
}

/* Returns how much of the path from the root of the PCI tree two devices share. */
static size_t shared_path(const char *a, const char *b)
{
	char path_a[PATH_MAX];
	char path_b[PATH_MAX];
	char link[64];
	size_t shared = 0;

	snprintf(link, sizeof(link), PCI "/%s", a);
	if (!realpath(link, path_a))
		return 0;
	snprintf(link, sizeof(link), PCI "/%s", b);
	if (!realpath(link, path_b))
		return 0;
	while (path_a[shared] && path_a[shared] == path_b[shared])
		shared++;
	return shared;
}

/* Finds the GPU that shares the most bridges with the port's device. */
static void find_gpu(struct fleet_rail *rail)
{
	DIR *folder = rail->pci[0] ? opendir(PCI) : NULL;
	const struct dirent *entry;
	size_t best = 0;

	while (folder && (entry = readdir(folder))) {
		size_t shared;

		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= sizeof(rail->gpu) ||
		    !is_gpu(entry->d_name))
			continue;
		shared = shared_path(rail->pci, entry->d_name);
		if (shared <= best)
			continue;
		best = shared;
		snprintf(rail->gpu, sizeof(rail->gpu), "%.15s", entry->d_name);
	}
	if (folder)
		closedir(folder);
}

static void find_pkey(struct fleet_rail *rail)
{
	int64_t key;

	if (sysfs_number("", &key, "/sys/class/infiniband/%s/ports/%u/pkeys/0", rail->device,
			 rail->port))
		rail->pkey = (uint16_t)key;
}

static void find_address(struct fleet_rail *rail, const struct device_port *port)
{
	const struct device_address *best = NULL;
	char text[ADDRESS_TEXT];

	for (size_t i = 0; i < port->n_addresses; i++) {
		const struct device_address *one = &port->addresses[i];

		if (!best || address_is_link_local((const struct sockaddr *)&best->address))
			best = one;
	}
	if (best)
		snprintf(rail->address, sizeof(rail->address), "%s",
			 address_text_bare((const struct sockaddr *)&best->address, text));
}

static void add_rail(struct fleet_node *node, const struct device_port *port)
{
	struct fleet_rail *rail = &node->rails[node->n_rails++];

	*rail = (struct fleet_rail){
		.port = port->port,
		.rate_mbps = port->rate_mbps,
		.numa_node = port->numa_node,
		.is_soft = port->kind != DEVICE_KIND_HARDWARE,
	};
	snprintf(rail->device, sizeof(rail->device), "%s", port->device);
	snprintf(rail->link_layer, sizeof(rail->link_layer), "%s", port->link_layer);
	find_address(rail, port);
	find_pci(rail);
	find_gpu(rail);
	find_pkey(rail);
}

static void find_fingerprint(struct fleet_node *node)
{
	json_t *facts = facts_gather("", node->rails[0].device, node->rails[0].port);

	if (facts)
		fingerprint_hard(facts, node->fingerprint);
	json_decref(facts);
}

int discover_rails(struct fleet_node *node, struct error *error)
{
	struct device_list devices = {0};
	int code = device_require(error);

	if (!code)
		code = device_list_open(&devices, error);
	for (size_t i = 0; i < devices.n_ports && !code; i++)
		if (devices.ports[i].state == IBV_PORT_ACTIVE && node->n_rails < FLEET_MOST_RAILS)
			add_rail(node, &devices.ports[i]);
	device_list_close(&devices);
	if (!code && !node->n_rails)
		code = error_set(error, -ENODEV, "no active port; see 'verbmark devices'");
	if (!code)
		find_fingerprint(node);
	return code;
}
