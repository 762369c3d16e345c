/* SPDX-License-Identifier: MIT */
/*
 * The GPUs of a machine and their places on PCI Express, from sysfs: no driver library is needed.
 * root is a prefix of /sys and /proc, for tests; normally "".
 */
#ifndef BENCH_HOST_GPU_LIST_H
#define BENCH_HOST_GPU_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/sysfs.h"
#include "core/memory/gpu.h"

/* The closest part of the machine that two PCI devices share. */
enum pci_distance {
	PCI_DISTANCE_SWITCH,  /* a PCI Express switch, or a slot */
	PCI_DISTANCE_ROOT,    /* the root complex */
	PCI_DISTANCE_NODE,    /* the NUMA node */
	PCI_DISTANCE_SOCKETS, /* none: they are on different nodes */
	PCI_DISTANCE_UNKNOWN,
};

/* Returns the end of a sentence: "on the same switch as". */
const char *pci_distance_text(enum pci_distance distance);
const char *pci_distance_name(enum pci_distance distance);

struct gpu_entry {
	char address[SYSFS_NAME]; /* on the PCI bus: 0000:17:00.0 */
	const char *kind;         /* of memory: "cuda" or "rocm" */
	int number;               /* the driver's, for cuda:N; -1: unknown */
	char name[SYSFS_NAME];
	int numa_node;           /* -1: unknown */
	char device[SYSFS_NAME]; /* the nearest RDMA device; empty: none */
	enum pci_distance distance;
	char iommu[SYSFS_NAME]; /* "DMA", "identity"; empty: no IOMMU, or unknown */
	bool is_isolated;       /* on a switch with the device, but in another IOMMU group */
};

struct gpu_list {
	struct gpu_entry *gpus;
	size_t count;
};

/* Returns false if out of memory. */
bool gpu_list_open(struct gpu_list *list, const char *root);
void gpu_list_close(struct gpu_list *list);

/* Adds an entry, without a place. Returns NULL if out of memory. */
struct gpu_entry *gpu_list_add(struct gpu_list *list, const char *address);

/* Returns the distance between a GPU and an RDMA device. */
enum pci_distance gpu_distance(const char *root, const char *address, const char *device);

/*
 * Returns the driver's number of the GPU that is nearest to an RDMA device: the first one of these,
 * and 0 if the places or the driver's GPUs are unknown.
 */
unsigned int gpu_nearest(const char *root, const struct gpu_driver *driver, const char *device);

#endif
