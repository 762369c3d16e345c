/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "bench/cli/cpulist.h"
#include "bench/host/advice/rule.h"

/* A number with one decimal at the most, in thousandths; 0: none, or absurd. */
static long long thousandths(const char *text)
{
	char *end;
	long long whole = text ? strtoll(text, &end, 10) : 0;

	if (whole < 0 || whole > 10000 || (!whole && !text))
		return 0;
	return whole * 1000 +
	       (text && *end == '.' && end[1] > '0' && end[1] <= '9' ? (end[1] - '0') * 100 : 0);
}

/* What a link carries, in 10^6 bits per second; up to 5 GT/s two bits of ten are code. */
static long long pcie_mbps(const json_t *facts, const char *speed_key, const char *width_key)
{
	long long per_lane = thousandths(advice_text(facts, "pcie", speed_key));
	json_int_t width;

	/* 0 and 255 lanes stand for unknown. */
	if (!advice_number(facts, "pcie", width_key, &width) || width < 1 || width > 32)
		return 0;
	return per_lane > 5000 ? per_lane * width * 128 / 130 : per_lane * width * 8 / 10;
}

/* The link to the device against its own best, and against what the port carries. */
static bool pcie_is(const struct advice_end *near, bool is_below, bool is_slow,
		    struct advice_words *words)
{
	const json_t *facts = near->facts;
	long long current = pcie_mbps(facts, "current_link_speed", "current_link_width");
	long long max = pcie_mbps(facts, "max_link_speed", "max_link_width");
	long long rate = thousandths(advice_text(facts, "port", "rate"));
	json_int_t width;
	json_int_t max_width;

	if (!current || !max || !rate || (current < max) != is_below || (current < rate) != is_slow)
		return false;
	advice_number(facts, "pcie", "current_link_width", &width);
	advice_number(facts, "pcie", "max_link_width", &max_width);
	return advice_what(words,
			   "PCIe link %.20s x%lld of %.20s x%lld: %lld Gb/s, the port's %lld",
			   advice_text(facts, "pcie", "current_link_speed"), width,
			   advice_text(facts, "pcie", "max_link_speed"), max_width, current / 1000,
			   rate / 1000);
}

static bool pcie_limits(const struct advice_end *near, const struct advice_end *far,
			struct advice_words *words)
{
	return pcie_is(near, true, true, words);
}

static bool pcie_below(const struct advice_end *near, const struct advice_end *far,
		       struct advice_words *words)
{
	return pcie_is(near, true, false, words);
}

static bool pcie_small(const struct advice_end *near, const struct advice_end *far,
		       struct advice_words *words)
{
	return pcie_is(near, false, true, words);
}

/* How many of the processors that this may run on are the device's own. */
static bool count_near(const json_t *facts, unsigned int *near, unsigned int *all)
{
	struct cpulist local;
	struct cpulist allowed;
	struct cpulist online;
	json_int_t nodes;

	if (!advice_is_hardware(facts) || !advice_number(facts, "numa", "nodes", &nodes) ||
	    nodes < 2 || !cpulist_parse(&local, advice_text(facts, "pcie", "local_cpulist")) ||
	    !cpulist_parse(&allowed, advice_text(facts, "cpu", "allowed")))
		return false;
	/* Without a cpuset, those that are off may be used, too. */
	if (cpulist_parse(&online, advice_text(facts, "cpu", "online")))
		allowed = cpulist_both(&allowed, &online);
	*near = cpulist_common(&local, &allowed);
	*all = cpulist_count(&allowed);
	return true;
}

/* before: what does it without another program, or nothing. */
static bool numa_mend(const json_t *facts, const char *before, struct advice_words *words)
{
	json_int_t node;

	if (!advice_number(facts, "pcie", "numa_node", &node) || node < 0)
		return true;
	return advice_mend(words, "%snumactl --cpunodebind=%lld --membind=%lld verbmark ...",
			   before, node, node);
}

static bool numa_far(const struct advice_end *near, const struct advice_end *far,
		     struct advice_words *words)
{
	unsigned int own;
	unsigned int all;

	return count_near(near->facts, &own, &all) && !own && numa_mend(near->facts, "", words) &&
	       advice_what(words, "it may run on processors %.60s, and %.60s is at %.60s",
			   advice_text(near->facts, "cpu", "allowed"), advice_device(near->facts),
			   advice_text(near->facts, "pcie", "local_cpulist"));
}

static bool numa_either(const struct advice_end *near, const struct advice_end *far,
			struct advice_words *words)
{
	unsigned int own;
	unsigned int all;

	return count_near(near->facts, &own, &all) && own && own < all &&
	       numa_mend(near->facts, "--pin auto, as it is by itself, for as many threads; or ",
			 words) &&
	       advice_what(words, "%u of %u processors it may run on are far from %.60s", all - own,
			   all, advice_device(near->facts));
}

static bool iommu(const struct advice_end *near, const struct advice_end *far,
		  struct advice_words *words)
{
	const char *type = advice_text(near->facts, "iommu", "type");

	return type && !strncmp(type, "DMA", 3) &&
	       advice_what(words, "the IOMMU translates for %.60s (%.20s)",
			   advice_device(near->facts), type);
}

static bool virtual_function(const struct advice_end *near, const struct advice_end *far,
			     struct advice_words *words)
{
	return advice_is_true(near->facts, "device", "virtual_function") &&
	       advice_what(words, "%.60s is a virtual function", advice_device(near->facts));
}

// clang-format off
static const struct advice_rule rules[] = {
	{"pcie", true, pcie_limits,
	 "bandwidth ends at the bus, before the port's rate",
	 "move the card to a slot of its own width and generation; lspci -vv tells them (LnkSta)"},
	{"numa", true, numa_far,
	 "each access to the device crosses from one node to another",
	 "pin it to the device's processors: taskset -c"},
	{"pcie", false, pcie_below,
	 "enough for the port, but each message takes longer",
	 "move the card to a slot of its own width and generation; lspci -vv tells them (LnkSta)"},
	{"pcie", false, pcie_small,
	 "bandwidth ends at the bus, before the port's rate",
	 "none for this card: expect the bus's rate"},
	{"numa", false, numa_either,
	 "from there each access crosses from one node to another",
	 "pin it to the device's processors: taskset -c"},
	{"iommu", false, iommu,
	 "each access of the device is looked up, and registering is slower",
	 "iommu.passthrough=1 on the kernel's command line, or on x86 iommu=pt"},
	{"virtual-function", false, virtual_function,
	 "other functions of the card share its port, its bus and its caches",
	 "the physical function, or keep the others idle"},
};
// clang-format on

const struct advice_table advice_of_bus = {rules, ARRAY_LENGTH(rules)};
