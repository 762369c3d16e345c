/* SPDX-License-Identifier: MIT */
/* The device on its PCI Express bus: link, configuration, and interrupts. */
#include <linux/pci_regs.h>
#include <stdio.h>
#include <string.h>

#include "bench/host/facts/part.h"

#define DEVICE "/sys/class/infiniband/%s/device"

#define CONFIG_SIZE    256
#define INTERRUPTS_MAX 512

/* Configuration space is little-endian on every machine. */
static unsigned int word_at(const uint8_t *config, size_t at)
{
	return config[at] | (unsigned int)config[at + 1] << 8;
}

/* Returns the offset of the PCI Express capability, or 0. The list may be circular. */
static size_t find_express(const uint8_t *config)
{
	size_t at = config[PCI_CAPABILITY_LIST] & ~3U;

	if (!(word_at(config, PCI_STATUS) & PCI_STATUS_CAP_LIST))
		return 0;
	for (size_t i = 0; i < CONFIG_SIZE / 4 && at >= PCI_STD_HEADER_SIZEOF; i++) {
		if (config[at + PCI_CAP_LIST_ID] == PCI_CAP_ID_EXP &&
		    at + PCI_EXP_DEVCTL + 2 <= CONFIG_SIZE)
			return at;
		at = config[at + PCI_CAP_LIST_NEXT] & ~3U;
	}
	return 0;
}

/* Only root can read more than the first 64 bytes; others get no facts here. */
static void add_control(json_t *section, const struct facts_place *place)
{
	uint8_t config[CONFIG_SIZE] = {0};
	size_t express;
	unsigned int control;

	if (sysfs_bytes(place->root, config, sizeof(config), DEVICE "/config", place->device) !=
	    sizeof(config))
		return;
	express = find_express(config);
	if (!express)
		return;
	control = word_at(config, express + PCI_EXP_DEVCTL);
	json_object_set_new(section, "max_payload_bytes",
			    json_integer(128 << ((control & PCI_EXP_DEVCTL_PAYLOAD) >> 5)));
	json_object_set_new(section, "max_read_request_bytes",
			    json_integer(128 << ((control & PCI_EXP_DEVCTL_READRQ) >> 12)));
	json_object_set_new(section, "relaxed_ordering",
			    json_boolean(control & PCI_EXP_DEVCTL_RELAX_EN));
}

json_t *facts_pcie(const struct facts_place *place)
{
	static const struct fact rows[] = {
		{"current_link_speed", "current_link_speed", fact_text  },
		{"current_link_width", "current_link_width", fact_number},
		{"max_link_speed",     "max_link_speed",     fact_text  },
		{"max_link_width",     "max_link_width",     fact_number},
		{"numa_node",          "numa_node",          fact_number},
		{"local_cpulist",      "local_cpulist",      fact_text  },
	};
	json_t *section = json_object();
	char folder[SYSFS_TEXT];

	if (facts_is_software(place))
		return section;
	snprintf(folder, sizeof(folder), DEVICE, place->device);
	facts_read(section, place->root, folder, rows, ARRAY_LENGTH(rows));
	/* In virtual functions these fields are reserved and zero. */
	if (!sysfs_exists(place->root, DEVICE "/physfn", place->device))
		add_control(section, place);
	return section;
}

/* Gets the CPUs that handle an interrupt; before Linux 4.15, the CPUs that may handle it. */
static bool interrupt_cpus(const char *root, const char *number, char *cpus, size_t size)
{
	return sysfs_line(root, cpus, size, "/proc/irq/%s/effective_affinity_list", number) ||
	       sysfs_line(root, cpus, size, "/proc/irq/%s/smp_affinity_list", number);
}

json_t *facts_interrupts(const struct facts_place *place)
{
	json_t *section = json_object();
	json_t *all = json_object();
	struct sysfs_names names;
	char cpus[SYSFS_NAME];

	sysfs_names_open(&names, place->root, DEVICE "/msi_irqs", place->device);
	if (!facts_is_software(place))
		for (size_t i = 0; i < names.count && i < INTERRUPTS_MAX; i++)
			if (interrupt_cpus(place->root, names.name[i], cpus, sizeof(cpus)))
				json_object_set_new(all, names.name[i], json_string(cpus));
	sysfs_names_close(&names);
	if (json_object_size(all))
		json_object_set(section, "cpus", all);
	json_decref(all);
	return section;
}
