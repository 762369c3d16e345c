/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "bench/host/facts/part.h"
#include "core/verbs/device_kind.h"

#define CLASS      "/sys/class/infiniband"
#define GIDS_MAX   1024
#define GIDS_GAP   32
#define UVERBS     "/sys/class/infiniband_verbs"
#define DEV        "/dev/infiniband"
#define NODE_RNIC  "4: RNIC"
#define FOLDER_MAX 256

static void device_folder(char folder[static FOLDER_MAX], const struct facts_place *place,
			  const char *below)
{
	snprintf(folder, FOLDER_MAX, CLASS "/%.63s%s", place->device, below);
}

bool facts_is_software(const struct facts_place *place)
{
	return device_kind_find(place->root, place->device) != DEVICE_KIND_HARDWARE;
}

static const char *module_of(enum device_kind kind)
{
	return kind == DEVICE_KIND_RXE ? "rdma_rxe" : kind == DEVICE_KIND_SIW ? "siw" : NULL;
}

static void add_driver(json_t *section, const struct facts_place *place, const char *module)
{
	static const struct fact rows[] = {
		{"driver_version",    "version",    fact_text},
		{"driver_srcversion", "srcversion", fact_text},
	};
	/* A card's network driver and the driver that adds its RDMA device are usually distinct. */
	static const struct fact rdma_rows[] = {
		{"rdma_driver_version",    "version",    fact_text},
		{"rdma_driver_srcversion", "srcversion", fact_text},
	};
	char folder[FOLDER_MAX];
	char driver[SYSFS_NAME];
	const char *rdma;

	if (module)
		snprintf(driver, sizeof(driver), "%s", module);
	else if (!sysfs_link(place->root, driver, sizeof(driver), CLASS "/%s/device/driver",
			     place->device))
		return;
	facts_set(section, "driver", driver);
	snprintf(folder, sizeof(folder), "/sys/module/%s", driver);
	facts_read(section, place->root, folder, rows, ARRAY_LENGTH(rows));
	rdma = facts_rdma_module(driver);
	if (!rdma)
		return;
	facts_set(section, "rdma_driver", rdma);
	snprintf(folder, sizeof(folder), "/sys/module/%s", rdma);
	facts_read(section, place->root, folder, rdma_rows, ARRAY_LENGTH(rdma_rows));
}

/*
 * Whether the device is a virtual function is unknown inside a virtual machine, and on CPUs that do
 * not reveal a hypervisor, such as arm64.
 */
static void add_function(json_t *section, const struct facts_place *place)
{
	bool is_virtual = sysfs_exists(place->root, CLASS "/%s/device/physfn", place->device);

	if (is_virtual || facts_cpu_flag(place->root, "hypervisor") == 0)
		json_object_set_new(section, "virtual_function", json_boolean(is_virtual));
}

json_t *facts_device(const struct facts_place *place)
{
	static const struct fact rows[] = {
		{"node_type", "node_type", fact_named},
                {"fw_ver",    "fw_ver",    fact_text },
		{"board_id",  "board_id",  fact_text },
                {"hca_type",  "hca_type",  fact_text },
		{"hw_rev",    "hw_rev",    fact_text },
                {"node_guid", "node_guid", fact_text },
	};
	json_t *section = json_object();
	enum device_kind kind = device_kind_find(place->root, place->device);
	bool is_software = kind != DEVICE_KIND_HARDWARE;
	char folder[FOLDER_MAX];

	facts_set(section, "name", place->device);
	device_folder(folder, place, "");
	facts_read(section, place->root, folder, rows, ARRAY_LENGTH(rows));
	facts_set(section, "kind", device_kind_name(kind));
	json_object_set_new(section, "software", json_boolean(is_software));
	add_driver(section, place, module_of(kind));
	if (!is_software)
		add_function(section, place);
	return section;
}

static bool contains(const json_t *texts, const char *text)
{
	for (size_t i = 0; i < json_array_size(texts); i++)
		if (!strcmp(json_string_value(json_array_get(texts, i)), text))
			return true;
	return false;
}

/* GID tables have up to a thousand entries, filled from the start, with gaps. */
static void add_gid_types(json_t *section, const struct facts_place *place)
{
	json_t *types = json_array();
	unsigned int empty = 0;

	for (unsigned int i = 0; i < GIDS_MAX && empty < GIDS_GAP; i++) {
		char type[SYSFS_NAME];

		empty++;
		if (!sysfs_line(place->root, type, sizeof(type),
				CLASS "/%s/ports/%u/gid_attrs/types/%u", place->device, place->port,
				i))
			continue;
		empty = 0;
		if (!contains(types, type))
			json_array_append_new(types, json_string(type));
	}
	if (json_array_size(types))
		json_object_set(section, "gid_types", types);
	json_decref(types);
}

json_t *facts_port(const struct facts_place *place)
{
	static const struct fact rows[] = {
		{"link_layer", "link_layer", fact_text },
		{"state",      "state",      fact_named},
		{"phys_state", "phys_state", fact_named},
		{"rate",       "rate",       fact_text },
	};
	json_t *section = json_pack("{s:i}", "number", (int)place->port);
	char folder[FOLDER_MAX];
	char text[SYSFS_NAME];

	device_folder(folder, place, "/ports/");
	snprintf(folder + strlen(folder), sizeof(folder) - strlen(folder), "%u", place->port);
	facts_read(section, place->root, folder, rows, ARRAY_LENGTH(rows));
	/* For iWARP, sysfs reports Ethernet, which would be mistaken for RoCE. */
	if (sysfs_line(place->root, text, sizeof(text), CLASS "/%s/node_type", place->device) &&
	    !strcmp(text, NODE_RNIC))
		facts_set(section, "link_layer", "iWARP");
	add_gid_types(section, place);
	return section;
}

/* Used if the port's GIDs name no interface: finds an interface of the device with that port. */
static bool own_interface(const struct facts_place *place, char *name, size_t size)
{
	struct sysfs_names names;
	bool found = false;

	sysfs_names_open(&names, place->root, CLASS "/%s/device/net", place->device);
	for (size_t i = 0; i < names.count && !found; i++) {
		int64_t port = 0;

		sysfs_number(place->root, &port, CLASS "/%s/device/net/%s/dev_port", place->device,
			     names.name[i]);
		found = port == (int64_t)place->port - 1;
		if (found)
			snprintf(name, size, "%s", names.name[i]);
	}
	sysfs_names_close(&names);
	return found;
}

bool facts_interface(const struct facts_place *place, char *name, size_t size)
{
	for (unsigned int i = 0; i < GIDS_GAP; i++)
		if (sysfs_line(place->root, name, size, CLASS "/%s/ports/%u/gid_attrs/ndevs/%u",
			       place->device, place->port, i))
			return true;
	return sysfs_line(place->root, name, size, CLASS "/%s/parent", place->device) ||
	       own_interface(place, name, size);
}

json_t *facts_netdev(const struct facts_place *place)
{
	static const struct fact rows[] = {
		{"mtu",       "mtu",       fact_number},
		{"operstate", "operstate", fact_text  },
	};
	json_t *section = json_object();
	char folder[FOLDER_MAX];
	char text[SYSFS_NAME];

	if (!facts_interface(place, text, sizeof(text)))
		return section;
	facts_set(section, "name", text);
	snprintf(folder, sizeof(folder), "/sys/class/net/%s", text);
	facts_read(section, place->root, folder, rows, ARRAY_LENGTH(rows));
	if (sysfs_link(place->root, text, sizeof(text), "%s/device/driver", folder))
		facts_set(section, "driver", text);
	return section;
}

json_t *facts_iommu(const struct facts_place *place)
{
	static const struct fact rows[] = {
		{"type", "type", fact_text},
	};
	json_t *section = json_object();
	char folder[FOLDER_MAX];

	if (facts_is_software(place))
		return section;
	device_folder(folder, place, "/device/iommu_group");
	facts_read(section, place->root, folder, rows, ARRAY_LENGTH(rows));
	return section;
}

/* Tries to open a node below /dev. Adds the errno if that fails. */
static json_t *try_node(const char *root, const char *name)
{
	int code = sysfs_try(root, DEV "/%s", name);
	json_t *node = json_pack("{s:s+, s:b}", "path", DEV "/", name, "opens", !code);

	if (code)
		json_object_set_new(node, "errno", json_integer(-code));
	return node;
}

json_t *facts_access(const struct facts_place *place)
{
	json_t *section = json_object();
	struct sysfs_names names;

	/* A device that the kernel does not have needs no nodes. */
	if (!sysfs_exists(place->root, CLASS "/%s", place->device))
		return section;
	sysfs_names_open(&names, place->root, UVERBS);
	for (size_t i = 0; i < names.count; i++) {
		char device[SYSFS_NAME];

		if (sysfs_line(place->root, device, sizeof(device), UVERBS "/%s/ibdev",
			       names.name[i]) &&
		    !strcmp(device, place->device))
			json_object_set_new(section, "uverbs",
					    try_node(place->root, names.name[i]));
	}
	sysfs_names_close(&names);
	json_object_set_new(section, "rdma_cm", try_node(place->root, "rdma_cm"));
	return section;
}
