/* SPDX-License-Identifier: MIT */
/*
 * Helpers shared by the parts of the fingerprint. Each part gathers a section: an object, which is
 * empty if nothing is known.
 */
#ifndef BENCH_HOST_FACTS_PART_H
#define BENCH_HOST_FACTS_PART_H

#include <jansson.h>

#include "core/base/cgroup.h"
#include "core/base/sysfs.h"

struct facts_place {
	const char *root;
	const char *device; /* NULL: none */
	unsigned int port;
};

typedef json_t *facts_section(const struct facts_place *place);

/* Converts a line to a value. Returns NULL if it holds no information. */
typedef json_t *fact_value(const char *text);

/* A file in a folder that holds one fact. */
struct fact {
	const char *key;
	const char *file;
	fact_value *value;
};

fact_value fact_text;
fact_value fact_number;
fact_value fact_flag;   /* 0 or 1 */
fact_value fact_named;  /* "4: ACTIVE" */
fact_value fact_choice; /* "always [madvise] never" */

void facts_read(json_t *into, const char *root, const char *folder, const struct fact *rows,
		size_t count);

/* Sets a member to a string, unless that is empty. */
void facts_set(json_t *into, const char *key, const char *text);

facts_section facts_device;
facts_section facts_port;
facts_section facts_netdev;
facts_section facts_pcie;
facts_section facts_interrupts;
facts_section facts_iommu;
facts_section facts_gpus;
facts_section facts_access;
facts_section facts_flow;
facts_section facts_soft_roce;

facts_section facts_tool;
facts_section facts_cpu;
facts_section facts_frequency;
facts_section facts_idle;
facts_section facts_numa;

facts_section facts_kernel;
facts_section facts_clock;
facts_section facts_limits;
facts_section facts_hugepages;
facts_section facts_cgroup;
facts_section facts_virtualization;

/* Returns 1 if the CPU has a flag such as "hypervisor", 0 if not, -1 if flags are not listed. */
int facts_cpu_flag(const char *root, const char *flag);

/* Returns the module that adds an RDMA device to a card with that network driver, or NULL. */
const char *facts_rdma_module(const char *driver);

/* Gets the network interface of the port. */
bool facts_interface(const struct facts_place *place, char *name, size_t size);

/* Returns whether it is a software device. */
bool facts_is_software(const struct facts_place *place);

/* Gets the mask of priorities with flow control from the kernel's answer. */
bool facts_take_pfc(void *answer, size_t length, unsigned int *mask);

/* Adds the facts that only libibverbs provides to the sections of the device. */
void facts_verbs(json_t *facts, const struct facts_place *place);

#endif
