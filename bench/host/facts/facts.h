/* SPDX-License-Identifier: MIT */
/*
 * The circumstances of a host, as JSON: its fingerprint, which stays as it is while
 * something is measured, and its noise, which does not. What is absent on a machine is
 * left out, never guessed. The objects are the caller's; NULL only without memory. Root
 * is "" for this machine, else a folder with files of /sys and /proc that are made up.
 * From any thread.
 */
#ifndef BENCH_HOST_FACTS_FACTS_H
#define BENCH_HOST_FACTS_FACTS_H

#include <jansson.h>
#include <stdbool.h>

/*
 * An object of sections: "host", "tool", "libc", "rdma_core", "device", "port",
 * "netdev", "flow", "pcie", "interrupts", "iommu", "access", "cpu", "frequency", "idle",
 * "numa", "kernel", "clock", "limits", "hugepages", "cgroup", "virtualization",
 * "environment".
 * Without a device (NULL): "soft_roce" in place of what is about one.
 */
json_t *facts_gather(const char *root, const char *device, unsigned int port);

/*
 * Ticks of all processors and those that were stolen, the load, how often control
 * groups and heat have held processors back: to be taken before and after.
 */
json_t *facts_noise(const char *root);

/* How much the noise of a host grew from one facts_noise to the next; 0 if unknown. */
struct noise_growth {
	json_int_t ticks;
	json_int_t stolen;    /* of the ticks, never more */
	json_int_t throttled; /* times */
	json_int_t slowed;    /* times, by heat */
};

struct noise_growth facts_noise_growth(const json_t *before, const json_t *after);

/* Whether the hypervisor took more than a machine may lose: one percent. */
bool facts_is_much_stolen(const struct noise_growth *growth);

#endif
