/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/host/advice/rule.h"

#define NOT_MEASURED ", or --device soft0 (not a measurement)"
#define SOFT_ROCE    "modprobe rdma_rxe && rdma link add rxe0 type rxe netdev %.15s"

static long long port_number(const json_t *facts)
{
	json_int_t number;

	return advice_number(facts, "port", "number", &number) ? number : 1;
}

static const char *interface_name(const json_t *facts)
{
	const char *name = advice_text(facts, "netdev", "name");

	return name ? name : "NETDEV";
}

static bool no_device(const struct advice_end *end, const struct advice_end *peer,
		      struct advice_words *words)
{
	const char *module = advice_text(end->facts, "soft_roce", "module");
	const char *netdev = advice_text(end->facts, "soft_roce", "netdev");

	if (!module || advice_text(end->facts, "device", "name"))
		return false;
	netdev = netdev ? netdev : "eth0";
	if (!strcmp(module, "unknown")) {
		advice_mend(words,
			    SOFT_ROCE ", on the container's host, and --device /dev/infiniband "
				      "for the container" NOT_MEASURED,
			    netdev);
		return advice_what(words, "no RDMA device");
	}
	if (!strcmp(module, "absent")) {
		advice_mend(words,
			    "install a kernel with rdma_rxe (Debian: linux-image-amd64, Ubuntu: "
			    "linux-modules-extra-$(uname -r)), then " SOFT_ROCE NOT_MEASURED,
			    netdev);
		return advice_what(words, "no RDMA device, and this kernel has no module rdma_rxe");
	}
	advice_mend(words, SOFT_ROCE NOT_MEASURED, netdev);
	return advice_what(words, "no RDMA device");
}

static bool missing_module(const struct advice_end *end, const struct advice_end *peer,
			   struct advice_words *words)
{
	const json_t *section = json_object_get(end->facts, "soft_roce");
	const char *module = advice_text(section, "card", "module");
	const char *netdev = advice_text(section, "card", "netdev");
	const char *driver = advice_text(section, "card", "driver");

	if (!module || !netdev || !driver)
		return false;
	advice_mend(words, "modprobe %.60s", module);
	return advice_what(
		words, "%.15s is a card with driver %.40s, but its RDMA module %.40s is not loaded",
		netdev, driver, module);
}

static bool device_fault(const struct advice_end *end, const struct advice_end *peer,
			 struct advice_words *words)
{
	const char *fault = advice_text(end->facts, "device", "fault");

	return fault && advice_what(words, "%.60s: %.150s", advice_device(end->facts), fault);
}

/* Reports a node below /dev that cannot be opened. */
static bool closed(const struct advice_end *end, const char *node, const char *module,
		   struct advice_words *words)
{
	const json_t *access = json_object_get(end->facts, "access");
	const char *path = advice_text(access, node, "path");
	char reason[64];
	json_int_t code;

	if (!path || !advice_is_false(access, node, "opens") ||
	    !advice_number(access, node, "errno", &code))
		return false;
	if (code == ENOENT || code == ENODEV || code == ENXIO)
		advice_mend(words, "modprobe %s; in a container --device /dev/infiniband", module);
	else
		advice_mend(words,
			    "chmod a+rw %.60s, or run as root; in a container, "
			    "--device /dev/infiniband",
			    path);
	return advice_what(words, "cannot open %.60s: %s", path,
			   strerror_r((int)code, reason, sizeof(reason)));
}

/* The kernel may have a device that it does not expose to programs. */
static bool uverbs_closed(const struct advice_end *end, const struct advice_end *peer,
			  struct advice_words *words)
{
	const json_t *access = json_object_get(end->facts, "access");

	if (!access || json_object_get(access, "uverbs") ||
	    !advice_text(end->facts, "device", "node_type"))
		return closed(end, "uverbs", "ib_uverbs", words);
	return advice_what(words, "%.60s has no device node in /dev/infiniband",
			   advice_device(end->facts));
}

static bool rdma_cm_closed(const struct advice_end *end, const struct advice_end *peer,
			   struct advice_words *words)
{
	return closed(end, "rdma_cm", "rdma_ucm", words);
}

static bool port_down(const struct advice_end *end, const struct advice_end *peer,
		      struct advice_words *words)
{
	const char *state = advice_text(end->facts, "port", "state");
	const char *physical = advice_text(end->facts, "port", "phys_state");
	const char *driver = advice_text(end->facts, "device", "driver");

	if (!state || !strcmp(state, "ACTIVE"))
		return false;
	if (!advice_is_link(end->facts, "InfiniBand"))
		advice_mend(words, "ip link set dev %.15s up, and check the cable",
			    interface_name(end->facts));
	else if (!strcmp(state, "DOWN"))
		advice_mend(words, "check the cable, its transceivers and the switch port: ibstat, "
				   "iblinkinfo, ibportstate LID PORT enable");
	else
		/* Omni-Path has its own fabric manager. */
		advice_mend(words, "systemctl start %s, on one machine in the fabric",
			    driver && !strcmp(driver, "hfi1") ? "opafm" : "opensm");
	return advice_what(words, "%.60s/%lld is %.20s (%.20s)", advice_device(end->facts),
			   port_number(end->facts), state, physical ? physical : "?");
}

static bool small_mtu(const struct advice_end *end, const struct advice_end *peer,
		      struct advice_words *words)
{
	json_int_t active;
	json_int_t max;

	/* iWARP runs over TCP, which segments messages. */
	if (advice_is_link(end->facts, "iWARP") ||
	    !advice_number(end->facts, "port", "active_mtu", &active) ||
	    !advice_number(end->facts, "port", "max_mtu", &max) || active < 1 || active >= max)
		return false;
	if (advice_is_link(end->facts, "InfiniBand"))
		advice_mend(words, "set mtu=5 for the partition in the subnet manager's "
				   "partitions.conf");
	else
		advice_mend(words,
			    "ip link set dev %.15s mtu 4200, at both ends, and the same in the "
			    "switches",
			    interface_name(end->facts));
	return advice_what(words, "MTU %lld on %.60s/%lld, which supports %lld", active,
			   advice_device(end->facts), port_number(end->facts), max);
}

static bool no_roce_v2(const struct advice_end *end, const struct advice_end *peer,
		       struct advice_words *words)
{
	const json_t *types = json_object_get(json_object_get(end->facts, "port"), "gid_types");

	if (!advice_is_link(end->facts, "Ethernet") || !json_array_size(types))
		return false;
	for (size_t i = 0; i < json_array_size(types); i++) {
		const char *type = json_string_value(json_array_get(types, i));

		if (type && !strcmp(type, "RoCE v2"))
			return false;
	}
	return advice_what(words, "%.60s/%lld has no RoCE v2 GID", advice_device(end->facts),
			   port_number(end->facts));
}

static bool no_flow_control(const struct advice_end *end, const struct advice_end *peer,
			    struct advice_words *words)
{
	const json_t *facts = end->facts;
	const json_t *pfc = json_object_get(json_object_get(facts, "flow"), "pfc");

	if (!advice_is_link(facts, "Ethernet") || !json_is_array(pfc) || json_array_size(pfc) ||
	    !advice_is_false(facts, "flow", "pause_receive") ||
	    !advice_is_false(facts, "flow", "pause_send"))
		return false;
	/* By default, the upper three bits of the DSCP are the priority. */
	advice_mend(words,
		    "dcb pfc set dev %.15s prio-pfc all:off 3:on, the same in the switches, and "
		    "--tos 96, which maps to priority 3 where DSCP is trusted",
		    interface_name(facts));
	return advice_what(words, "%.15s has neither priority flow control nor pause frames",
			   interface_name(facts));
}

static bool software_device(const struct advice_end *end, const struct advice_end *peer,
			    struct advice_words *words)
{
	const char *driver = advice_text(end->facts, "device", "driver");

	return advice_is_true(end->facts, "device", "software") && !advice_is_soft(end->facts) &&
	       advice_what(words, "software device %.60s%s%.20s: not a measurement of hardware",
			   advice_device(end->facts), driver ? ", " : "", driver ? driver : "");
}

static bool soft_device(const struct advice_end *end, const struct advice_end *peer,
			struct advice_words *words)
{
	return advice_is_soft(end->facts) &&
	       advice_what(words, "SOFTWARE DEVICE %.60s: not a measurement",
			   advice_device(end->facts));
}

// clang-format off
static const struct advice_rule rules[] = {
	{"no-device", true, no_device,
	 "there is nothing to measure with",
	 NULL},
	{"module", true, missing_module,
	 "without it the card has no RDMA device",
	 NULL},
	{"device", true, device_fault,
	 "programs cannot use it",
	 "apt-get install ibverbs-providers, and check the permissions of /dev/infiniband"},
	{"rights", true, uverbs_closed,
	 "programs access the device through it",
	 "modprobe ib_uverbs"},
	{"rights", true, rdma_cm_closed,
	 "rdma_cm makes connections through it",
	 "modprobe rdma_ucm"},
	{"port", true, port_down,
	 "only an active port carries traffic",
	 NULL},
	{"software-device", false, software_device,
	 "the kernel does the card's work on the CPUs, which determines the times",
	 "use an RDMA card; compare these results only with each other"},
	{"software-device", false, soft_device,
	 "programs copy memory instead of using a card and a network",
	 "use an RDMA card, or Soft-RoCE to include the kernel; compare only with soft0 results"},
	{"mtu", false, small_mtu,
	 "messages need more packets, each with its own headers",
	 NULL},
	{"gid-type", false, no_roce_v2,
	 "RoCE v1 can neither cross a router nor communicate with RoCE v2",
	 "ip address add ADDRESS/PREFIX dev NETDEV"},
	{"flow-control", false, no_flow_control,
	 "a full buffer on the path drops packets, and RoCE retransmits all packets after them",
	 NULL},
};
// clang-format on

const struct advice_table advice_of_device = {rules, ARRAY_LENGTH(rules)};
