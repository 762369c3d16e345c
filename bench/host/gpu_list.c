/* SPDX-License-Identifier: MIT */
#include "bench/host/gpu_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"

#define PCI        "/sys/bus/pci/devices"
#define INFINIBAND "/sys/class/infiniband"

static const struct {
	const char *name;
	const char *text;
} distances[] = {
	[PCI_DISTANCE_SWITCH] = {"switch",  "on the same switch as"      },
	[PCI_DISTANCE_ROOT] = {"root",    "at the same root complex as"},
	[PCI_DISTANCE_NODE] = {"node",    "on the same NUMA node as"   },
	[PCI_DISTANCE_SOCKETS] = {"sockets", "on another NUMA node than"  },
	[PCI_DISTANCE_UNKNOWN] = {"-",       "at an unknown distance from"},
};

const char *pci_distance_name(enum pci_distance distance)
{
	return distances[distance].name;
}

const char *pci_distance_text(enum pci_distance distance)
{
	return distances[distance].text;
}

static int node_of(const char *root, const char *address)
{
	int64_t node = -1;

	sysfs_number(root, &node, PCI "/%s/numa_node", address);
	return (int)node;
}

/* Gets the bridges above a PCI device: "pci0000:15/0000:15:01.0/0000:16:00.0/". */
static bool bridges_of(const char *root, const char *address, char *path, size_t size)
{
	char target[SYSFS_TEXT];
	const char *first;
	char *last;

	if (!sysfs_target(root, target, sizeof(target), PCI "/%s", address))
		return false;
	first = strstr(target, "devices/");
	last = strrchr(target, '/');
	if (!first || !last || last < first + sizeof("devices"))
		return false;
	last[1] = '\0';
	snprintf(path, size, "%s", first + sizeof("devices"));
	return true;
}

/* Counts the components that two paths begin with. */
static size_t count_shared(const char *a, const char *b)
{
	size_t shared = 0;

	for (; *a && *a == *b; a++, b++)
		shared += *a == '/';
	return shared;
}

static enum pci_distance distance_of(const char *root, const char *a, const char *b)
{
	char above_a[SYSFS_TEXT];
	char above_b[SYSFS_TEXT];
	size_t shared;
	int node = node_of(root, a);

	if (!bridges_of(root, a, above_a, sizeof(above_a)) ||
	    !bridges_of(root, b, above_b, sizeof(above_b)))
		return PCI_DISTANCE_UNKNOWN;
	/* The first component is the root complex, and each further one a bridge. */
	shared = count_shared(above_a, above_b);
	if (shared)
		return shared > 1 ? PCI_DISTANCE_SWITCH : PCI_DISTANCE_ROOT;
	if (node < 0 || node_of(root, b) < 0)
		return PCI_DISTANCE_UNKNOWN;
	return node == node_of(root, b) ? PCI_DISTANCE_NODE : PCI_DISTANCE_SOCKETS;
}

/* Software devices have no place. */
static bool address_of(const char *root, const char *device, char *address)
{
	return sysfs_link(root, address, SYSFS_NAME, INFINIBAND "/%s/device", device) &&
	       sysfs_exists(root, PCI "/%s", address);
}

enum pci_distance gpu_distance(const char *root, const char *address, const char *device)
{
	char other[SYSFS_NAME];

	return address_of(root, device, other) ? distance_of(root, address, other)
					       : PCI_DISTANCE_UNKNOWN;
}

unsigned int gpu_nearest(const char *root, const struct gpu_driver *driver, const char *device)
{
	enum pci_distance least = PCI_DISTANCE_UNKNOWN;
	unsigned int nearest = 0;
	unsigned int count = 0;
	struct error ignored = {0};

	if (driver->count(&count, &ignored))
		return 0;
	for (unsigned int i = 0; i < count; i++) {
		enum pci_distance distance;
		struct gpu gpu;

		if (driver->describe(i, &gpu, &ignored))
			continue;
		distance = gpu_distance(root, gpu.address, device);
		if (distance < least) {
			least = distance;
			nearest = i;
		}
	}
	return nearest;
}

static bool share_group(const char *root, const char *a, const char *b)
{
	char group[SYSFS_NAME];
	char other[SYSFS_NAME];

	return !sysfs_link(root, group, sizeof(group), PCI "/%s/iommu_group", a) ||
	       !sysfs_link(root, other, sizeof(other), PCI "/%s/iommu_group", b) ||
	       !strcmp(group, other);
}

static void find_device(struct gpu_entry *gpu, const char *root, const struct sysfs_names *devices)
{
	char address[SYSFS_NAME];

	gpu->distance = PCI_DISTANCE_UNKNOWN;
	for (size_t i = 0; i < devices->count; i++) {
		enum pci_distance distance;

		if (!address_of(root, devices->name[i], address))
			continue;
		distance = distance_of(root, gpu->address, address);
		if (gpu->device[0] && distance >= gpu->distance)
			continue;
		gpu->distance = distance;
		snprintf(gpu->device, sizeof(gpu->device), "%s", devices->name[i]);
		gpu->is_isolated = distance == PCI_DISTANCE_SWITCH &&
				   !share_group(root, gpu->address, address);
	}
}

/* Returns the kind of memory that a PCI device has, or NULL if it is no GPU. */
static const char *kind_of(const char *root, const char *address)
{
	int64_t class = 0;
	int64_t vendor = 0;

	sysfs_number(root, &class, PCI "/%s/class", address);
	sysfs_number(root, &vendor, PCI "/%s/vendor", address);
	/* Display controllers and processing accelerators. */
	if (class >> 16 != 0x03 && class >> 16 != 0x12)
		return NULL;
	return vendor == 0x10de ? "cuda" : vendor == 0x1002 ? "rocm" : NULL;
}

static void find_name(struct gpu_entry *gpu, const char *root)
{
	char *text = sysfs_text(root, SYSFS_TEXT, "/proc/driver/nvidia/gpus/%s/information",
				gpu->address);
	int64_t vendor = 0;
	int64_t device = 0;
	bool found = sysfs_field(text, "Model", gpu->name, sizeof(gpu->name)) ||
		     sysfs_line(root, gpu->name, sizeof(gpu->name), PCI "/%s/product_name",
				gpu->address);

	free(text);
	if (found)
		return;
	sysfs_number(root, &vendor, PCI "/%s/vendor", gpu->address);
	sysfs_number(root, &device, PCI "/%s/device", gpu->address);
	snprintf(gpu->name, sizeof(gpu->name), "%04x:%04x", (unsigned int)vendor,
		 (unsigned int)device);
}

struct gpu_entry *gpu_list_add(struct gpu_list *list, const char *address)
{
	struct gpu_entry *larger = reallocarray(list->gpus, list->count + 1, sizeof(*larger));
	struct gpu_entry *gpu;

	if (!larger)
		return NULL;
	list->gpus = larger;
	gpu = &larger[list->count++];
	*gpu = (struct gpu_entry){.number = -1, .numa_node = -1, .distance = PCI_DISTANCE_UNKNOWN};
	snprintf(gpu->address, sizeof(gpu->address), "%s", address);
	return gpu;
}

/* Orders addresses as texts: they are hexadecimal numbers of the same length. */
static int compare_addresses(const void *a, const void *b)
{
	const struct gpu_entry *one = a;
	const struct gpu_entry *other = b;

	return strcmp(one->address, other->address);
}

bool gpu_list_open(struct gpu_list *list, const char *root)
{
	struct sysfs_names addresses;
	struct sysfs_names devices;
	bool is_whole = true;

	*list = (struct gpu_list){0};
	sysfs_names_open(&addresses, root, PCI);
	sysfs_names_open(&devices, root, INFINIBAND);
	for (size_t i = 0; i < addresses.count && is_whole; i++) {
		const char *address = addresses.name[i];
		const char *kind = kind_of(root, address);
		struct gpu_entry *gpu = kind ? gpu_list_add(list, address) : NULL;

		is_whole = gpu || !kind;
		if (!gpu)
			continue;
		gpu->kind = kind;
		gpu->numa_node = node_of(root, address);
		find_name(gpu, root);
		find_device(gpu, root, &devices);
		sysfs_line(root, gpu->iommu, sizeof(gpu->iommu), PCI "/%s/iommu_group/type",
			   address);
	}
	sysfs_names_close(&devices);
	sysfs_names_close(&addresses);
	if (list->count)
		qsort(list->gpus, list->count, sizeof(*list->gpus), compare_addresses);
	return is_whole;
}

void gpu_list_close(struct gpu_list *list)
{
	free(list->gpus);
	*list = (struct gpu_list){0};
}
