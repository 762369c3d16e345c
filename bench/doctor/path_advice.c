/* SPDX-License-Identifier: MIT */
#include "bench/doctor/path_advice.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/cli/value.h"
#include "bench/host/advice/rule.h"

#define SIZE_TEXT 24

static void path_advice_find(json_t *findings, const struct path_probe *path, const char *code,
			     bool spoils, const struct advice_words *words, const char *why)
{
	const char *host = path->near.host[0] ? path->near.host : "this host";

	json_array_append_new(findings,
			      advice_finding(code, spoils, host, words->what, why, words->mend));
}

static bool has_passed(const struct path_probe *path, enum path_probe_step step)
{
	return path->steps[step].end == PATH_PASSED;
}

static bool is_link(const struct path_probe *path, const char *link_layer)
{
	return path->near.link_layer && !strcmp(path->near.link_layer, link_layer);
}

static const char *far_host(const struct path_probe *path)
{
	return path->far.host[0] ? path->far.host : "the server";
}

static const char *size_of(const struct path_probe *path, enum path_probe_step step,
			   char text[SIZE_TEXT])
{
	value_print_size(path->steps[step].size, text, SIZE_TEXT);
	return text;
}

static void report_lost(const struct path_probe *path, json_t *findings)
{
	struct advice_words words = {0};

	advice_what(&words, "the server was lost while messages were tested: %.160s", path->lost);
	advice_mend(&words, "see the output of verbmark serve on %.60s, and restart it",
		    far_host(path));
	path_advice_find(findings, path, "server", true, &words, "a run would fail here as well");
}

/* For each link layer: why RDMA may be blocked, and how to allow it. */
static const struct carrier {
	const char *link_layer; /* NULL: any other */
	const char *why;
	const char *mend;
} carriers[] = {
	{"InfiniBand", "TCP works but RDMA does not, so no run can connect",
	 "check ibping and ibtracert between the LIDs, and the subnet manager's partitions"                                  },
	{"iWARP",      "iWARP uses TCP ports that rdma_cm picks, and something drops them",
	 "allow TCP between the two addresses on both hosts and everything in between"                                       },
	{NULL,
	 "RoCE v2 uses UDP port 4791, which something drops: for Soft-RoCE a firewall on either "
	 "host; for NICs, which bypass it, a switch, a hypervisor or a security group",     "firewall-cmd --add-port=4791/udp, nft insert rule inet filter input udp dport 4791 accept, "
	 "or iptables -I INPUT -p udp --dport 4791 -j ACCEPT: on both hosts and everything in "
	 "between, in both directions"},
};

static const struct carrier *carrier_of(const struct path_probe *path)
{
	const struct carrier *row = carriers;

	while (row->link_layer && !is_link(path, row->link_layer))
		row++;
	return row;
}

/* Neither way of connecting got a reply. */
static void report_blocked(const struct path_probe *path, json_t *findings)
{
	const struct carrier *carrier = carrier_of(path);
	struct advice_words words = {0};

	advice_what(&words, "%.40s/%u receives no RDMA packet from %.60s's %.40s/%u",
		    path->near.device, path->near.port, far_host(path), path->far.device,
		    path->far.port);
	advice_mend(&words, "%s", carrier->mend);
	path_advice_find(findings, path, "path-blocked", true, &words, carrier->why);
}

static void report_unresolved(const struct path_probe *path, json_t *findings)
{
	struct advice_words words = {0};

	advice_what(&words, "no route from %.60s to %.60s: %.110s", path->near.address,
		    path->far.address, path->steps[PATH_CM].reason);
	advice_mend(&words, "check ping -I %.60s %.60s, ip route get and ip neigh on both hosts",
		    path->near.address, path->far.address);
	path_advice_find(
		findings, path, "path-address", true, &words,
		"both ports have addresses in one network, but the peer does not answer: a "
		"different VLAN, a bad cable or a duplicate address");
}

static void mend_cm(const struct path_probe *path, struct advice_words *words)
{
	const char *meanwhile = has_passed(path, PATH_PAIRS) ? "; until then use --connect qp" : "";

	if (path->steps[PATH_CM].end == PATH_FAILED)
		advice_mend(words, "fix the reported error; try verbmark doctor on %.60s%s",
			    far_host(path), meanwhile);
	else
		advice_mend(
			words,
			"check ping -I %.45s %.45s and ip route get on both hosts, modprobe rdma_ucm, "
			"and filters of UDP 4791 by address or length%s",
			path->near.address, path->far.address, meanwhile);
}

static void report_cm(const struct path_probe *path, json_t *findings)
{
	struct advice_words words = {0};

	advice_what(&words, "connecting with rdma_cm fails%s: %.150s",
		    has_passed(path, PATH_PAIRS) ? " (--connect qp works)" : "",
		    path->steps[PATH_CM].reason);
	mend_cm(path, &words);
	path_advice_find(
		findings, path, "connect-cm", true, &words,
		"this is the default for runs: it uses IP addresses, the kernel's routes and "
		"packets to queue pair 1");
}

static void report_pairs(const struct path_probe *path, json_t *findings)
{
	struct advice_words words = {0};

	advice_what(&words, "connecting with --connect qp fails%s: %.150s",
		    has_passed(path, PATH_CM) ? " (rdma_cm works)" : "",
		    path->steps[PATH_PAIRS].reason);
	if (path->steps[PATH_PAIRS].end == PATH_FAILED)
		advice_mend(&words, "fix the reported error; try verbmark doctor on %.60s",
			    far_host(path));
	else
		advice_mend(&words, "choose another GID with -x and --server-gid-index; "
				    "ibv_devinfo -v lists them");
	path_advice_find(
		findings, path, "connect-qp", true, &words,
		"-c, -m, -x, -S and -T connect this way, using the best GID of each port, whose "
		"address or VLAN the peer may not reach");
}

static bool is_broken(const struct path_probe *path, enum path_probe_step step)
{
	return path->steps[step].end > PATH_PASSED;
}

/* If both ways fail for the same reason, connecting is not the problem. */
static bool has_one_reason(const struct path_probe *path)
{
	return path->steps[PATH_PAIRS].end == PATH_FAILED &&
	       path->steps[PATH_CM].end == PATH_FAILED &&
	       !strcmp(path->steps[PATH_PAIRS].reason, path->steps[PATH_CM].reason);
}

static void report_reason(const struct path_probe *path, json_t *findings)
{
	struct advice_words words = {0};

	advice_what(&words, "no message can be sent: %.180s", path->steps[PATH_CM].reason);
	advice_mend(&words, "fix the reported error; try verbmark doctor on %.60s", far_host(path));
	path_advice_find(findings, path, "path", true, &words, "a run would fail here as well");
}

static void report_connecting(const struct path_probe *path, json_t *findings)
{
	if (has_one_reason(path)) {
		report_reason(path, findings);
		return;
	}
	if (is_broken(path, PATH_CM))
		report_cm(path, findings);
	if (is_broken(path, PATH_PAIRS))
		report_pairs(path, findings);
}

static void mend_mtu(const struct path_probe *path, struct advice_words *words)
{
	unsigned int mtu = path_probe_mtu(path);
	char passed[32] = "a smaller -m";

	if (path->mtu_passed)
		snprintf(passed, sizeof(passed), "-m %u", path->mtu_passed);
	if (is_link(path, "InfiniBand"))
		advice_mend(
			words,
			"check smpquery portinfo along the path and the partition's MTU; or use %s",
			passed);
	else
		/* Add the IP, UDP and transport headers. */
		advice_mend(
			words,
			"enable jumbo frames in the switches (IP packets of %u bytes), or lower "
			"the MTU on both hosts (ip link set dev NETDEV mtu); or use %s",
			mtu + 80, passed);
}

/* Packets of the full MTU are lost, but smaller ones arrive. */
static void report_mtu(const struct path_probe *path, json_t *findings)
{
	struct advice_words words = {0};
	char several[SIZE_TEXT];
	char passed[48] = "";

	if (path->mtu_passed)
		snprintf(passed, sizeof(passed), ", but not with -m %u", path->mtu_passed);
	advice_what(
		&words,
		"messages of %s bytes do not arrive, small ones do: the MTU is %u on %.30s/%u and "
		"%u on %.40s's %.30s/%u, and packets of %u bytes are lost%s",
		size_of(path, PATH_SEVERAL, several), path->near.mtu, path->near.device,
		path->near.port, path->far.mtu, far_host(path), path->far.device, path->far.port,
		path_probe_mtu(path), passed);
	mend_mtu(path, &words);
	path_advice_find(
		findings, path, "path-mtu", true, &words,
		"something on the path does not support the MTU of the ports, so larger messages fail");
}

/* A burst of packets exceeds a buffer on the path. */
static void report_burst(const struct path_probe *path, enum path_probe_step step, json_t *findings)
{
	struct advice_words words = {0};
	char size[SIZE_TEXT];

	advice_what(&words, "messages of %s bytes fail, smaller ones do not%s: %.120s",
		    size_of(path, step, size), path->mtu_tried ? ", at any MTU" : "",
		    path->steps[step].reason);
	advice_mend(&words, "check flow control end to end (dcb pfc show), and rate or buffer "
			    "limits of switches and hypervisors");
	path_advice_find(findings, path, "path-loss", true, &words,
			 "bursts of packets are lost, although single packets of that size arrive");
}

static void report_failed(const struct path_probe *path, enum path_probe_step step,
			  json_t *findings)
{
	struct advice_words words = {0};
	char size[SIZE_TEXT];

	advice_what(&words, "messages of %s bytes fail, smaller ones do not: %.160s",
		    size_of(path, step, size), path->steps[step].reason);
	advice_mend(&words, "fix the reported error; try verbmark doctor on %.60s", far_host(path));
	path_advice_find(findings, path, "path", true, &words,
			 "runs with messages of that size would fail as well");
}

static void report_good(const struct path_probe *path, json_t *findings)
{
	struct advice_words words = {0};
	char small[SIZE_TEXT];
	char several[SIZE_TEXT];
	char large[SIZE_TEXT];
	char mtu[32] = "";
	bool both = has_passed(path, PATH_PAIRS) && has_passed(path, PATH_CM);

	/* TCP segments do not follow the port's MTU. */
	if (!is_link(path, "iWARP"))
		snprintf(mtu, sizeof(mtu), ", with an MTU of %u", path_probe_mtu(path));
	advice_what(
		&words,
		"messages of %s, %s and %s bytes reach %.60s and come back%s; connected with %s",
		size_of(path, has_passed(path, PATH_CM) ? PATH_CM : PATH_PAIRS, small),
		size_of(path, PATH_SEVERAL, several), size_of(path, PATH_LARGE, large),
		far_host(path), mtu,
		both                        ? "rdma_cm and --connect qp"
		: has_passed(path, PATH_CM) ? "rdma_cm"
					    : "--connect qp");
	path_advice_find(
		findings, path, "path", false, &words,
		"the path carries packets as large as the ports allow, in both directions");
}

static void report_size(const struct path_probe *path, json_t *findings)
{
	enum path_probe_step step = is_broken(path, PATH_SEVERAL) ? PATH_SEVERAL : PATH_LARGE;
	/* The MTU is to blame unless smaller ones were tried and failed as well. */
	bool is_mtu = step == PATH_SEVERAL && !is_link(path, "iWARP") &&
		      (path->mtu_passed || !path->mtu_tried);

	if (has_passed(path, step))
		report_good(path, findings);
	else if (path->steps[step].end == PATH_FAILED)
		report_failed(path, step, findings);
	else if (is_mtu)
		report_mtu(path, findings);
	else
		report_burst(path, step, findings);
}

/* Returns whether no way of connecting that was tried got a reply. */
static bool is_silent(const struct path_probe *path)
{
	enum path_probe_end pairs = path->steps[PATH_PAIRS].end;
	enum path_probe_end cm = path->steps[PATH_CM].end;

	return cm == PATH_UNTRIED ? pairs == PATH_SILENT
				  : cm == PATH_SILENT && pairs != PATH_FAILED;
}

void path_advice(const struct path_probe *path, json_t *findings)
{
	const struct path_probe_outcome *cm = &path->steps[PATH_CM];
	bool any = has_passed(path, PATH_PAIRS) || has_passed(path, PATH_CM);

	if (path->lost[0])
		report_lost(path, findings);
	else if (!any && cm->end == PATH_UNRESOLVED)
		report_unresolved(path, findings);
	else if (!any && is_silent(path))
		report_blocked(path, findings);
	else
		report_connecting(path, findings);
	if (any && !path->lost[0])
		report_size(path, findings);
}
