/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the fingerprint share. A section is an object, empty where there is
 * nothing to tell.
 */
#ifndef BENCH_HOST_FACTS_PART_H
#define BENCH_HOST_FACTS_PART_H

#include <jansson.h>

#include "core/base/cgroup.h"
#include "core/base/sysfs.h"

struct facts_place {
	const char *root;
	const char *device; /* NULL: there is none */
	unsigned int port;
};

typedef json_t *facts_section(const struct facts_place *place);

/* The value of a line, or NULL for one that tells nothing. */
typedef json_t *fact_value(const char *text);

/* A file of a folder that is one fact. */
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

/* Sets "key" to a text, unless it is empty. */
void facts_set(json_t *into, const char *key, const char *text);

facts_section facts_device;
facts_section facts_port;
facts_section facts_netdev;
facts_section facts_pcie;
facts_section facts_interrupts;
facts_section facts_iommu;
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

/* Whether the processor has a flag such as "hypervisor"; -1: it tells no flags. */
int facts_cpu_flag(const char *root, const char *flag);

/* What makes an RDMA device of a card with that network driver; NULL: nothing that is known. */
const char *facts_rdma_module(const char *driver);

/* The network interface of the port. */
bool facts_interface(const struct facts_place *place, char *name, size_t size);

/* Whether the device is made of software. */
bool facts_is_software(const struct facts_place *place);

/* From the kernel's answer about a link's priority flow control: those that have it. */
bool facts_take_pfc(void *answer, size_t length, unsigned int *mask);

/* What only libibverbs tells, put into the sections of the device. */
void facts_verbs(json_t *facts, const struct facts_place *place);

#endif
