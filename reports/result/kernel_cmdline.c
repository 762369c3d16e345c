/* SPDX-License-Identifier: MIT */
#include "reports/result/kernel_cmdline.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"

static bool is_of_interest(const char *word)
{
	static const char *const beginnings[] = {
		"isolcpus",
		"nohz",
		"rcu_nocbs",
		"irqaffinity",
		"idle",
		"intel_idle.",
		"mitigations",
		"intel_pstate",
		"amd_pstate",
		"processor.",
		"iommu",
		"intel_iommu",
		"amd_iommu",
		"hugepages",
		"default_hugepagesz",
		"transparent_hugepage",
		"numa_balancing",
		"clocksource",
		"tsc",
		"nosmt",
		"pcie_aspm",
		"pci=",
		"cpufreq.",
		"preempt",
		"skew_tick",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(beginnings); i++)
		if (!strncmp(word, beginnings[i], strlen(beginnings[i])))
			return true;
	return false;
}

int kernel_cmdline_keep(const char *line, char kept[static KERNEL_CMDLINE_KEPT])
{
	char *copy = strdup(line);
	char *rest = copy;
	size_t used = 0;
	char *word;

	kept[0] = '\0';
	if (!copy)
		return -ENOMEM;
	while ((word = strsep(&rest, " "))) {
		/* Room for a space and the final NUL. */
		if (!is_of_interest(word) || used + 1 + strlen(word) + 1 > KERNEL_CMDLINE_KEPT)
			continue;
		used += (size_t)snprintf(kept + used, KERNEL_CMDLINE_KEPT - used, "%s%s",
					 used ? " " : "", word);
	}
	free(copy);
	return 0;
}
