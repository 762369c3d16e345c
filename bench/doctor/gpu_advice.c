/* SPDX-License-Identifier: MIT */
#include "bench/doctor/gpu_advice.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bench/host/advice/advice.h"
#include "bench/host/advice/rule.h"
#include "bench/host/gpu_list.h"

static enum pci_distance distance_of(const json_t *gpu, const char *key)
{
	const char *name = json_string_value(json_object_get(gpu, key));

	for (enum pci_distance i = PCI_DISTANCE_SWITCH; name && i < PCI_DISTANCE_UNKNOWN; i++)
		if (!strcmp(name, pci_distance_name(i)))
			return i;
	return PCI_DISTANCE_UNKNOWN;
}

static const char *text_of(const json_t *gpu, const char *key)
{
	const char *text = json_string_value(json_object_get(gpu, key));

	return text ? text : "";
}

static void add(json_t *findings, const json_t *facts, const char *code, const char *what,
		const char *why, const char *mend)
{
	json_array_append_new(findings,
			      advice_finding(code, false, text_of(facts, "host"), what, why, mend));
}

/* Names the device that is nearer to the GPU nearest to this one. */
static void add_far(const json_t *facts, const char *address, const json_t *gpu, json_t *findings)
{
	const char *better = text_of(gpu, "nearest");
	char what[ADVICE_TEXT];
	char mend[ADVICE_TEXT];

	snprintf(
		what, sizeof(what),
		"no GPU has %.40s as its nearest RDMA device: GPU %.20s (%.40s) is %s it, but %s %.40s",
		advice_device(facts), address, text_of(gpu, "name"),
		pci_distance_text(distance_of(gpu, "distance")),
		pci_distance_text(distance_of(gpu, "nearest_distance")), better);
	snprintf(mend, sizeof(mend), "for memory of that GPU, --device %.40s", better);
	add(findings, facts, "gpu-far", what,
	    "DMA between a GPU and a distant device is slower, or not possible", mend);
}

static void add_acs(const json_t *facts, const char *address, json_t *findings)
{
	char what[ADVICE_TEXT];

	snprintf(what, sizeof(what),
		 "GPU %.20s and %.40s share a PCIe switch, but not an IOMMU group", address,
		 advice_device(facts));
	add(findings, facts, "gpu-acs", what,
	    "Access Control Services then send DMA between them through the root complex",
	    "disable ACS in the BIOS, or on the switch's ports (ACSCtl in lspci -vvv)");
}

void gpu_advice(const json_t *facts, json_t *findings)
{
	enum pci_distance least = PCI_DISTANCE_UNKNOWN;
	const json_t *nearest = NULL;
	bool is_paired = false;
	const char *address_of_nearest = NULL;
	const char *address;
	json_t *gpu;

	json_object_foreach(json_object_get(facts, "gpus"), address, gpu)
	{
		enum pci_distance distance = distance_of(gpu, "distance");

		if (json_is_true(json_object_get(gpu, "acs")) && distance == PCI_DISTANCE_SWITCH)
			add_acs(facts, address, findings);
		is_paired = is_paired || distance <= distance_of(gpu, "nearest_distance");
		if (nearest && distance >= least)
			continue;
		nearest = gpu;
		address_of_nearest = address;
		least = distance;
	}
	if (nearest && !is_paired)
		add_far(facts, address_of_nearest, nearest, findings);
}
