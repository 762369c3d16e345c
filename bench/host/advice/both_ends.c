/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/host/advice/rule.h"

static const char *host_name(const struct advice_end *end)
{
	const char *name = json_string_value(json_object_get(end->facts, "host"));

	return name ? name : "the server";
}

/* Returns whether both ends have the fact, with different values. */
static bool differ(const struct advice_end *end, const struct advice_end *peer, const char *section,
		   const char *key)
{
	const char *here = advice_text(end->facts, section, key);
	const char *there = advice_text(peer->facts, section, key);

	return here && there && strcmp(here, there) != 0;
}

static bool mtus_differ(const struct advice_end *end, const struct advice_end *peer,
			struct advice_words *words)
{
	json_int_t here;
	json_int_t there;

	return !peer->is_lone && advice_number(end->facts, "port", "active_mtu", &here) &&
	       advice_number(peer->facts, "port", "active_mtu", &there) && here > 0 && there > 0 &&
	       here != there &&
	       advice_what(words, "MTU %lld, but %lld on %.60s", here, there, host_name(peer));
}

/* InfiniBand ends negotiate the path MTU, and iWARP runs over TCP: neither loses packets. */
static bool mtu(const struct advice_end *end, const struct advice_end *peer,
		struct advice_words *words)
{
	return !advice_is_link(end->facts, "InfiniBand") && !advice_is_link(end->facts, "iWARP") &&
	       mtus_differ(end, peer, words);
}

static bool fabric_mtu(const struct advice_end *end, const struct advice_end *peer,
		       struct advice_words *words)
{
	return advice_is_link(end->facts, "InfiniBand") && mtus_differ(end, peer, words);
}

static bool link_layer(const struct advice_end *end, const struct advice_end *peer,
		       struct advice_words *words)
{
	return !peer->is_lone && differ(end, peer, "port", "link_layer") &&
	       advice_what(words, "link layer %.20s, but %.20s on %.60s",
			   advice_text(end->facts, "port", "link_layer"),
			   advice_text(peer->facts, "port", "link_layer"), host_name(peer));
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

static bool gid_type(const struct advice_end *end, const struct advice_end *peer,
		     struct advice_words *words)
{
	const json_t *here = gid_types(end);
	const json_t *there = gid_types(peer);

	if (peer->is_lone || !json_array_size(here) || !json_array_size(there))
		return false;
	for (size_t i = 0; i < json_array_size(here); i++)
		if (advice_has(there, json_array_get(here, i)))
			return false;
	return advice_what(words, "GIDs of %.20s, but of %.20s on %.60s", first(here), first(there),
			   host_name(peer));
}

static bool rate(const struct advice_end *end, const struct advice_end *peer,
		 struct advice_words *words)
{
	const char *here = advice_text(end->facts, "port", "rate");
	const char *there = advice_text(peer->facts, "port", "rate");

	/* Compare numbers: "100 Gb/sec (4X EDR)" is as fast as "100 Gb/sec (2X HDR)". */
	return !peer->is_lone && here && there &&
	       fabs(strtod(here, NULL) - strtod(there, NULL)) > 0 &&
	       advice_what(words, "rate %.40s, but %.40s on %.60s", here, there, host_name(peer));
}

static bool version(const struct advice_end *end, const struct advice_end *peer,
		    struct advice_words *words)
{
	return differ(end, peer, "tool", "version") &&
	       advice_what(words, "verbmark %.20s here, but %.20s on %.60s",
			   advice_text(end->facts, "tool", "version"),
			   advice_text(peer->facts, "tool", "version"), host_name(peer));
}

// clang-format off
static const struct advice_rule rules[] = {
	{"mtu", true, mtu,
	 "packets as large as one end sends may be dropped by the other",
	 "ip link set dev NETDEV mtu, the same at both ends and in the switches"},
	{"mtu", false, fabric_mtu,
	 "the smaller MTU is used, and messages need more packets",
	 "set mtu=5 for the partition in the subnet manager's partitions.conf"},
	{"link-layer", true, link_layer,
	 "different link layers cannot communicate",
	 "pick ports with the same link layer: --device and --server-device"},
	{"gid-type", true, gid_type,
	 "different RoCE versions cannot communicate",
	 "cma_roce_mode -d DEVICE -p PORT -m 2, at both ends"},
	{"rate", false, rate,
	 "the slower port limits the bandwidth of both",
	 "pick ports with the same rate: --device and --server-device"},
	{"version", false, version,
	 "both work together, but may measure differently",
	 "upgrade the older one"},
};
// clang-format on

const struct advice_table advice_of_pair = {rules, ARRAY_LENGTH(rules)};
