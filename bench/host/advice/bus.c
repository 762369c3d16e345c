/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "bench/cli/cpulist.h"
#include "bench/host/advice/rule.h"

/* Parses a number with at most one decimal, in thousandths. Returns 0 if invalid or absurd. */
static long long thousandths(const char *text)
{
	char *end;
	long long whole = text ? strtoll(text, &end, 10) : 0;

	if (whole < 0 || whole > 10000 || (!whole && !text))
		return 0;
	return whole * 1000 +
	       (text && *end == '.' && end[1] > '0' && end[1] <= '9' ? (end[1] - '0') * 100 : 0);
}

/* Returns a link's data rate in 10^6 bit/s. Up to 5 GT/s, the encoding uses 10 bits for 8. */
static long long pcie_mbps(const json_t *facts, const char *speed_key, const char *width_key)
{
	long long per_lane = thousandths(advice_text(facts, "pcie", speed_key));
	json_int_t width;

	/* 0 and 255 lanes mean unknown. */
	if (!advice_number(facts, "pcie", width_key, &width) || width < 1 || width > 32)
		return 0;
	return per_lane > 5000 ? per_lane * width * 128 / 130 : per_lane * width * 8 / 10;
}

/* Compares the link of the device with its own maximum and with the rate of the port. */
static bool pcie_is(const struct advice_end *end, bool is_below, bool is_slow,
		    struct advice_words *words)
{
	const json_t *facts = end->facts;
	long long current = pcie_mbps(facts, "current_link_speed", "current_link_width");
	long long max = pcie_mbps(facts, "max_link_speed", "max_link_width");
	long long rate = thousandths(advice_text(facts, "port", "rate"));
	json_int_t width;
	json_int_t max_width;

	if (!current || !max || !rate || (current < max) != is_below || (current < rate) != is_slow)
		return false;
	advice_number(facts, "pcie", "current_link_width", &width);
	advice_number(facts, "pcie", "max_link_width", &max_width);
	return advice_what(
		words, "PCIe link %.20s x%lld of %.20s x%lld: %lld Gb/s, for a port of %lld Gb/s",
		advice_text(facts, "pcie", "current_link_speed"), width,
		advice_text(facts, "pcie", "max_link_speed"), max_width, current / 1000,
		rate / 1000);
}

static bool pcie_limits(const struct advice_end *end, const struct advice_end *peer,
			struct advice_words *words)
{
	return pcie_is(end, true, true, words);
}

static bool pcie_below(const struct advice_end *end, const struct advice_end *peer,
		       struct advice_words *words)
{
	return pcie_is(end, true, false, words);
}

static bool pcie_small(const struct advice_end *end, const struct advice_end *peer,
		       struct advice_words *words)
{
	return pcie_is(end, false, true, words);
}

/* Counts the CPUs that this process may use, and how many of them are close to the device. */
static bool count_local(const json_t *facts, unsigned int *own, unsigned int *all)
{
	struct cpulist local;
	struct cpulist allowed;
	struct cpulist online;
	json_int_t nodes;

	if (!advice_is_hardware(facts) || !advice_number(facts, "numa", "nodes", &nodes) ||
	    nodes < 2 || !cpulist_parse(&local, advice_text(facts, "pcie", "local_cpulist")) ||
	    !cpulist_parse(&allowed, advice_text(facts, "cpu", "allowed")))
		return false;
	/* Without a cpuset, the mask may include CPUs that are offline. */
	if (cpulist_parse(&online, advice_text(facts, "cpu", "online")))
		allowed = cpulist_both(&allowed, &online);
	*own = cpulist_common(&local, &allowed);
	*all = cpulist_count(&allowed);
	return true;
}

/* before: an alternative without numactl, or "". */
static bool numa_mend(const json_t *facts, const char *before, struct advice_words *words)
{
	json_int_t node;

	if (!advice_number(facts, "pcie", "numa_node", &node) || node < 0)
		return true;
	return advice_mend(words, "%snumactl --cpunodebind=%lld --membind=%lld verbmark ...",
			   before, node, node);
}

static bool numa_remote(const struct advice_end *end, const struct advice_end *peer,
			struct advice_words *words)
{
	unsigned int own;
	unsigned int all;

	return count_local(end->facts, &own, &all) && !own && numa_mend(end->facts, "", words) &&
	       advice_what(words,
			   "verbmark may run on CPUs %.60s, but %.60s is close to CPUs %.60s",
			   advice_text(end->facts, "cpu", "allowed"), advice_device(end->facts),
			   advice_text(end->facts, "pcie", "local_cpulist"));
}

static bool numa_either(const struct advice_end *end, const struct advice_end *peer,
			struct advice_words *words)
{
	unsigned int own;
	unsigned int all;

	return count_local(end->facts, &own, &all) && own && own < all &&
	       numa_mend(end->facts, "--pin auto, the default, for up to that many threads; or ",
			 words) &&
	       advice_what(words, "%u of %u usable CPUs are on another NUMA node than %.60s",
			   all - own, all, advice_device(end->facts));
}

static bool iommu(const struct advice_end *end, const struct advice_end *peer,
		  struct advice_words *words)
{
	const char *type = advice_text(end->facts, "iommu", "type");

	return type && !strncmp(type, "DMA", 3) &&
	       advice_what(words, "the IOMMU translates the DMA of %.60s (%.20s)",
			   advice_device(end->facts), type);
}

static bool virtual_function(const struct advice_end *end, const struct advice_end *peer,
			     struct advice_words *words)
{
	return advice_is_true(end->facts, "device", "virtual_function") &&
	       advice_what(words, "%.60s is a virtual function", advice_device(end->facts));
}

// clang-format off
static const struct advice_rule rules[] = {
	{"pcie", true, pcie_limits,
	 "the bus limits bandwidth to less than the port's rate",
	 "move the card to a slot of its own width and generation (LnkSta in lspci -vv)"},
	{"numa", true, numa_remote,
	 "every access to the device crosses NUMA nodes",
	 "pin verbmark to the device's CPUs: taskset -c"},
	{"pcie", false, pcie_below,
	 "fast enough for the port, but each message takes longer",
	 "move the card to a slot of its own width and generation (LnkSta in lspci -vv)"},
	{"pcie", false, pcie_small,
	 "the bus limits bandwidth to less than the port's rate",
	 "none for this card: expect the bus's rate"},
	{"numa", false, numa_either,
	 "from those CPUs, every access to the device crosses NUMA nodes",
	 "pin verbmark to the device's CPUs: taskset -c"},
	{"iommu", false, iommu,
	 "every DMA access is translated, and memory registration is slower",
	 "iommu.passthrough=1 on the kernel command line, or iommu=pt on x86"},
	{"virtual-function", false, virtual_function,
	 "other functions of the card share its port, its bus and its caches",
	 "use the physical function, or keep the others idle"},
};
// clang-format on

const struct advice_table advice_of_bus = {rules, ARRAY_LENGTH(rules)};
