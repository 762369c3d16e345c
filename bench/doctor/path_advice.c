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
	return path->far.host[0] ? path->far.host : "the other end";
}

static const char *size_of(const struct path_probe *path, enum path_probe_step step,
			   char text[SIZE_TEXT])
{
	value_print_size(path->steps[step].size, text, SIZE_TEXT);
	return text;
}

static void tell_lost(const struct path_probe *path, json_t *findings)
{
	struct advice_words words = {0};

	advice_what(&words, "the server went away while messages were tried: %.160s", path->lost);
	advice_mend(&words, "see what verbmark serve says on %.60s, and start it again",
		    far_host(path));
	path_advice_find(findings, path, "server", true, &words, "a run would end here as well");
}

/* What carries RDMA there, and who may open it. */
static const struct carrier {
	const char *link_layer; /* NULL: any other */
	const char *why;
	const char *mend;
} carriers[] = {
	{"InfiniBand", "TCP gets there, and RDMA does not: no run can connect",
	 "ibping and ibtracert between the two LIDs; the partitions of the subnet manager"                                           },
	{"iWARP",      "iWARP goes over TCP, at ports that rdma_cm picks, which something drops",
	 "let TCP between the two addresses pass, at both ends and whatever is between them"                                         },
	{NULL,
	 "RoCE v2 goes over UDP port 4791, which something drops: for Soft-RoCE the filter of "
	 "either host, for cards, which pass that by, a switch, a hypervisor or a security group", "firewall-cmd --add-port=4791/udp, nft insert rule inet filter input udp dport 4791 accept, "
	 "or iptables -I INPUT -p udp --dport 4791 -j ACCEPT: at both ends, and in what is between "
	 "them, in both directions"},
};

static const struct carrier *carrier_of(const struct path_probe *path)
{
	const struct carrier *row = carriers;

	while (row->link_layer && !is_link(path, row->link_layer))
		row++;
	return row;
}

/* Both ways of connecting have found nobody. */
static void tell_blocked(const struct path_probe *path, json_t *findings)
{
	const struct carrier *carrier = carrier_of(path);
	struct advice_words words = {0};

	advice_what(&words, "no RDMA packet comes back to %.40s/%u from %.60s's %.40s/%u",
		    path->near.device, path->near.port, far_host(path), path->far.device,
		    path->far.port);
	advice_mend(&words, "%s", carrier->mend);
	path_advice_find(findings, path, "path-blocked", true, &words, carrier->why);
}

static void tell_unresolved(const struct path_probe *path, json_t *findings)
{
	struct advice_words words = {0};

	advice_what(&words, "no way from %.60s to %.60s: %.110s", path->near.address,
		    path->far.address, path->steps[PATH_CM].reason);
	advice_mend(&words, "ping -I %.60s %.60s, ip route get, ip neigh: at both ends",
		    path->near.address, path->far.address);
	path_advice_find(
		findings, path, "path-address", true, &words,
		"the addresses of the two ports are of one network, but nobody answers there: "
		"another VLAN, a cable, an address that is there twice");
}

static void mend_cm(const struct path_probe *path, struct advice_words *words)
{
	const char *meanwhile = has_passed(path, PATH_PAIRS) ? "; until then --connect qp" : "";

	if (path->steps[PATH_CM].end == PATH_FAILED)
		advice_mend(words, "what it says, and verbmark doctor on %.60s%s", far_host(path),
			    meanwhile);
	else
		advice_mend(words,
			    "ping -I %.45s %.45s and ip route get at both ends, modprobe rdma_ucm, "
			    "no filter of UDP 4791 by address or length%s",
			    path->near.address, path->far.address, meanwhile);
}

static void tell_cm(const struct path_probe *path, json_t *findings)
{
	struct advice_words words = {0};

	advice_what(&words, "connecting by rdma_cm fails%s: %.150s",
		    has_passed(path, PATH_PAIRS) ? ", and by queue pairs works" : "",
		    path->steps[PATH_CM].reason);
	mend_cm(path, &words);
	path_advice_find(
		findings, path, "connect-cm", true, &words,
		"runs connect so unless they are told otherwise: from one IP address to the other, "
		"by the kernel's routes and packets to queue pair 1");
}

static void tell_pairs(const struct path_probe *path, json_t *findings)
{
	struct advice_words words = {0};

	advice_what(&words, "connecting by queue pairs fails%s: %.150s",
		    has_passed(path, PATH_CM) ? ", and by rdma_cm works" : "",
		    path->steps[PATH_PAIRS].reason);
	if (path->steps[PATH_PAIRS].end == PATH_FAILED)
		advice_mend(&words, "what it says, and verbmark doctor on %.60s", far_host(path));
	else
		advice_mend(&words, "another row of the GID tables, with -x and "
				    "--server-gid-index: ibv_devinfo -v");
	path_advice_find(
		findings, path, "connect-qp", true, &words,
		"-c, -m, -x, -S and -T connect so, by the best row of each GID table, whose address "
		"or VLAN the other end may not reach");
}

static bool is_broken(const struct path_probe *path, enum path_probe_step step)
{
	return path->steps[step].end > PATH_PASSED;
}

/* Where both fail for one reason, it is not the connecting. */
static bool has_one_reason(const struct path_probe *path)
{
	return path->steps[PATH_PAIRS].end == PATH_FAILED &&
	       path->steps[PATH_CM].end == PATH_FAILED &&
	       !strcmp(path->steps[PATH_PAIRS].reason, path->steps[PATH_CM].reason);
}

static void tell_reason(const struct path_probe *path, json_t *findings)
{
	struct advice_words words = {0};

	advice_what(&words, "no message can be sent: %.180s", path->steps[PATH_CM].reason);
	advice_mend(&words, "what it says, and verbmark doctor on %.60s", far_host(path));
	path_advice_find(findings, path, "path", true, &words, "a run would end here as well");
}

static void tell_connecting(const struct path_probe *path, json_t *findings)
{
	if (has_one_reason(path)) {
		tell_reason(path, findings);
		return;
	}
	if (is_broken(path, PATH_CM))
		tell_cm(path, findings);
	if (is_broken(path, PATH_PAIRS))
		tell_pairs(path, findings);
}

static void mend_mtu(const struct path_probe *path, struct advice_words *words)
{
	unsigned int mtu = path_probe_mtu(path);
	char passed[32] = "a smaller -m";

	if (path->mtu_passed)
		snprintf(passed, sizeof(passed), "-m %u", path->mtu_passed);
	if (is_link(path, "InfiniBand"))
		advice_mend(words,
			    "smpquery portinfo along the way, the MTU of the partition; or %s",
			    passed);
	else
		/* Addresses, UDP and the transport's own headers. */
		advice_mend(words,
			    "jumbo frames in the switches (IP packets of %u bytes), or ip link "
			    "set dev NETDEV mtu, as small as theirs, at both ends; or %s",
			    mtu + 80, passed);
}

/* Packets of the ports' full size get lost, and smaller ones do not. */
static void tell_mtu(const struct path_probe *path, json_t *findings)
{
	struct advice_words words = {0};
	char several[SIZE_TEXT];
	char passed[48] = "";

	if (path->mtu_passed)
		snprintf(passed, sizeof(passed), ", but for those of -m %u", path->mtu_passed);
	advice_what(
		&words,
		"messages of %s bytes do not get through, small ones do: the MTU is %u at %.30s/%u, "
		"%u at %.40s's %.30s/%u, and packets of %u are lost%s",
		size_of(path, PATH_SEVERAL, several), path->near.mtu, path->near.device,
		path->near.port, path->far.mtu, far_host(path), path->far.device, path->far.port,
		path_probe_mtu(path), passed);
	mend_mtu(path, &words);
	path_advice_find(
		findings, path, "path-mtu", true, &words,
		"something on the way does not carry the MTU of the ports: each larger message fails");
}

/* One large message in a hurry is more than something on the way holds. */
static void tell_burst(const struct path_probe *path, enum path_probe_step step, json_t *findings)
{
	struct advice_words words = {0};
	char size[SIZE_TEXT];

	advice_what(&words, "messages of %s bytes fail, smaller ones do not%s: %.120s",
		    size_of(path, step, size), path->mtu_tried ? ", with whatever MTU" : "",
		    path->steps[step].reason);
	advice_mend(&words, "flow control from end to end (dcb pfc show), and limits of rate or "
			    "buffers at switches and hypervisors");
	path_advice_find(findings, path, "path-loss", true, &words,
			 "many packets in a row get lost, though single ones of that size pass");
}

static void tell_failed(const struct path_probe *path, enum path_probe_step step, json_t *findings)
{
	struct advice_words words = {0};
	char size[SIZE_TEXT];

	advice_what(&words, "messages of %s bytes fail, smaller ones do not: %.160s",
		    size_of(path, step, size), path->steps[step].reason);
	advice_mend(&words, "what it says, and verbmark doctor on %.60s", far_host(path));
	path_advice_find(findings, path, "path", true, &words,
			 "runs with messages of that size would end so");
}

static void tell_good(const struct path_probe *path, json_t *findings)
{
	struct advice_words words = {0};
	char small[SIZE_TEXT];
	char several[SIZE_TEXT];
	char large[SIZE_TEXT];
	char mtu[32] = "";
	bool both = has_passed(path, PATH_PAIRS) && has_passed(path, PATH_CM);

	/* TCP's segments are none of the port's. */
	if (!is_link(path, "iWARP"))
		snprintf(mtu, sizeof(mtu), ", with an MTU of %u", path_probe_mtu(path));
	advice_what(&words,
		    "messages of %s, %s and %s bytes get to %.60s and back%s; connected by %s",
		    size_of(path, has_passed(path, PATH_CM) ? PATH_CM : PATH_PAIRS, small),
		    size_of(path, PATH_SEVERAL, several), size_of(path, PATH_LARGE, large),
		    far_host(path), mtu,
		    both                        ? "rdma_cm and by queue pairs"
		    : has_passed(path, PATH_CM) ? "rdma_cm"
						: "queue pairs");
	path_advice_find(
		findings, path, "path", false, &words,
		"the path carries packets as large as the ports allow, in both directions");
}

static void tell_size(const struct path_probe *path, json_t *findings)
{
	enum path_probe_step step = is_broken(path, PATH_SEVERAL) ? PATH_SEVERAL : PATH_LARGE;
	/* Where the MTU can be tried, one that is small enough must help. */
	bool is_mtu = step == PATH_SEVERAL && !is_link(path, "iWARP") &&
		      (path->mtu_passed || !path->mtu_tried);

	if (has_passed(path, step))
		tell_good(path, findings);
	else if (path->steps[step].end == PATH_FAILED)
		tell_failed(path, step, findings);
	else if (is_mtu)
		tell_mtu(path, findings);
	else
		tell_burst(path, step, findings);
}

/* In each way that was tried. */
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
		tell_lost(path, findings);
	else if (!any && cm->end == PATH_UNRESOLVED)
		tell_unresolved(path, findings);
	else if (!any && is_silent(path))
		tell_blocked(path, findings);
	else
		tell_connecting(path, findings);
	if (any && !path->lost[0])
		tell_size(path, findings);
}
