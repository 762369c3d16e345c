/* SPDX-License-Identifier: MIT */
/*
 * Facts about a host, as JSON: its fingerprint, which does not change during a measurement, and
 * its noise, which does. Unavailable facts are omitted, never guessed. The caller owns the objects;
 * NULL is returned only if out of memory. root is a prefix of /sys and /proc, for tests; normally
 * "". Functions may be called from any thread.
 */
#ifndef BENCH_HOST_FACTS_FACTS_H
#define BENCH_HOST_FACTS_FACTS_H

#include <jansson.h>
#include <stdbool.h>

/*
 * Returns an object with the sections "host", "tool", "libc", "rdma_core", "device", "port",
 * "netdev", "flow", "pcie", "interrupts", "iommu", "access", "gpus", "cpu", "frequency", "idle",
 * "numa", "kernel", "clock", "limits", "hugepages", "cgroup", "virtualization",
 * "environment".
 * Without a device (NULL), "soft_roce" replaces the sections about the device.
 */
json_t *facts_gather(const char *root, const char *device, unsigned int port);

/*
 * Returns CPU ticks, total and stolen, the load average, and how often control groups and heat have
 * throttled CPUs. Take it before and after a measurement.
 */
json_t *facts_noise(const char *root);

/* How much the noise of a host grew from one facts_noise to the next; 0 if unknown. */
struct noise_growth {
	json_int_t ticks;
	json_int_t stolen;    /* of the ticks, never more */
	json_int_t throttled; /* times, by control groups */
	json_int_t slowed;    /* times, by heat */
};

struct noise_growth facts_noise_growth(const json_t *before, const json_t *after);

/* Returns whether the hypervisor took more than one percent of the CPU time. */
bool facts_is_much_stolen(const struct noise_growth *growth);

#endif
