/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/host/advice/rule.h"

static const char *host_name(const struct advice_end *end)
{
	const char *name = json_string_value(json_object_get(end->facts, "host"));

	return name ? name : "the other end";
}

/* Both tell it, and not the same. */
static bool differ(const struct advice_end *near, const struct advice_end *far, const char *section,
		   const char *key)
{
	const char *here = advice_text(near->facts, section, key);
	const char *there = advice_text(far->facts, section, key);

	return here && there && strcmp(here, there) != 0;
}

static bool mtus_differ(const struct advice_end *near, const struct advice_end *far,
			struct advice_words *words)
{
	json_int_t here;
	json_int_t there;

	return !far->is_lone && advice_number(near->facts, "port", "active_mtu", &here) &&
	       advice_number(far->facts, "port", "active_mtu", &there) && here > 0 && there > 0 &&
	       here != there &&
	       advice_what(words, "MTU %lld here, and %lld on %.60s", here, there, host_name(far));
}

/* Where both find out about the way by themselves, or TCP does, nothing gets lost. */
static bool mtu(const struct advice_end *near, const struct advice_end *far,
		struct advice_words *words)
{
	return !advice_is_link(near->facts, "InfiniBand") &&
	       !advice_is_link(near->facts, "iWARP") && mtus_differ(near, far, words);
}

static bool fabric_mtu(const struct advice_end *near, const struct advice_end *far,
		       struct advice_words *words)
{
	return advice_is_link(near->facts, "InfiniBand") && mtus_differ(near, far, words);
}

static bool link_layer(const struct advice_end *near, const struct advice_end *far,
		       struct advice_words *words)
{
	return !far->is_lone && differ(near, far, "port", "link_layer") &&
	       advice_what(words, "%.20s here, and %.20s on %.60s",
			   advice_text(near->facts, "port", "link_layer"),
			   advice_text(far->facts, "port", "link_layer"), host_name(far));
}

static const json_t *gid_types(const struct advice_end *end)
{
	return json_object_get(json_object_get(end->facts, "port"), "gid_types");
}

static const char *first(const json_t *types)
{
	const char *text = json_string_value(json_array_get(types, 0));

	return text ? text : "?";
}

static bool gid_type(const struct advice_end *near, const struct advice_end *far,
		     struct advice_words *words)
{
	const json_t *here = gid_types(near);
	const json_t *there = gid_types(far);

	if (far->is_lone || !json_array_size(here) || !json_array_size(there))
		return false;
	for (size_t i = 0; i < json_array_size(here); i++)
		if (advice_has(there, json_array_get(here, i)))
			return false;
	return advice_what(words, "GIDs of %.20s here, and of %.20s on %.60s", first(here),
			   first(there), host_name(far));
}

static bool rate(const struct advice_end *near, const struct advice_end *far,
		 struct advice_words *words)
{
	const char *here = advice_text(near->facts, "port", "rate");
	const char *there = advice_text(far->facts, "port", "rate");

	/* "100 Gb/sec (4X EDR)", which is as fast as (2X HDR). */
	return !far->is_lone && here && there &&
	       fabs(strtod(here, NULL) - strtod(there, NULL)) > 0 &&
	       advice_what(words, "%.40s here, and %.40s on %.60s", here, there, host_name(far));
}

static bool version(const struct advice_end *near, const struct advice_end *far,
		    struct advice_words *words)
{
	return differ(near, far, "tool", "version") &&
	       advice_what(words, "verbmark %.20s here, and %.20s on %.60s",
			   advice_text(near->facts, "tool", "version"),
			   advice_text(far->facts, "tool", "version"), host_name(far));
}

// clang-format off
static const struct advice_rule rules[] = {
	{"mtu", true, mtu,
	 "messages as large as one end allows may be lost at the other one",
	 "ip link set dev NETDEV mtu, the same at both ends and in the switches"},
	{"mtu", false, fabric_mtu,
	 "the smaller one holds, and messages of the other take more packets",
	 "mtu=5 for the partition, in the subnet manager's partitions.conf"},
	{"link-layer", true, link_layer,
	 "two kinds of links do not talk to each other",
	 "--device and --server-device, to pick ports of one kind"},
	{"gid-type", true, gid_type,
	 "the two do not talk to each other",
	 "cma_roce_mode -d DEVICE -p PORT -m 2, at both ends"},
	{"rate", false, rate,
	 "the slower port sets the bandwidth of both",
	 "--device and --server-device, to pick ports of one rate"},
	{"version", false, version,
	 "it works, but the two may measure in different ways",
	 "upgrade the older one"},
};
// clang-format on

const struct advice_table advice_of_pair = {rules, ARRAY_LENGTH(rules)};
