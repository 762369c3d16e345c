/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <linux/dcbnl.h>
#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/host/facts/part.h"

#define PRIORITIES 8
#define ANSWER_MS  1000

/* The priorities of a bit mask, as an array. */
static json_t *priorities(unsigned int mask)
{
	json_t *list = json_array();

	for (int i = 0; i < PRIORITIES; i++)
		if (mask & 1U << i)
			json_array_append_new(list, json_integer(i));
	return list;
}

/* Adds the priorities with ECN. Only drivers of OFED export them, not those in the kernel. */
static void add_ecn(json_t *section, const char *root, const char *name)
{
	static const struct {
		const char *key;
		const char *folder;
	} rows[] = {
		{"ecn_receiver", "roce_np"},
		{"ecn_sender",   "roce_rp"},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		unsigned int mask = 0;
		bool known = false;

		for (unsigned int priority = 0; priority < PRIORITIES; priority++) {
			int64_t on;

			if (!sysfs_number(root, &on, "/sys/class/net/%s/ecn/%s/enable/%u", name,
					  rows[i].folder, priority))
				continue;
			known = true;
			mask |= on ? 1U << priority : 0;
		}
		if (known)
			json_object_set_new(section, rows[i].key, priorities(mask));
	}
}

static void add_pause(json_t *section, const char *name)
{
	struct ethtool_pauseparam pause = {.cmd = ETHTOOL_GPAUSEPARAM};
	struct ifreq request = {.ifr_data = (void *)&pause};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	if (!ioctl(fd, SIOCETHTOOL, &request)) {
		json_object_set_new(section, "pause_receive", json_boolean(pause.rx_pause));
		json_object_set_new(section, "pause_send", json_boolean(pause.tx_pause));
	}
	close(fd);
}

static struct rtattr *find_attribute(void *bytes, int length, unsigned short type)
{
	struct rtattr *attribute = bytes;

	while (RTA_OK(attribute, length)) {
		if ((attribute->rta_type & NLA_TYPE_MASK) == type)
			return attribute;
		attribute = RTA_NEXT(attribute, length);
	}
	return NULL;
}

bool facts_take_pfc(void *answer, size_t length, unsigned int *mask)
{
	struct nlmsghdr *head = answer;
	struct rtattr *attribute;
	struct ieee_pfc pfc;

	if (length > INT_MAX || !NLMSG_OK(head, (uint32_t)length) || head->nlmsg_type != RTM_GETDCB)
		return false;
	attribute = find_attribute((char *)NLMSG_DATA(head) + NLMSG_ALIGN(sizeof(struct dcbmsg)),
				   (int)NLMSG_PAYLOAD(head, sizeof(struct dcbmsg)), DCB_ATTR_IEEE);
	if (attribute)
		attribute = find_attribute(RTA_DATA(attribute), (int)RTA_PAYLOAD(attribute),
					   DCB_ATTR_IEEE_PFC);
	if (!attribute || RTA_PAYLOAD(attribute) < sizeof(pfc))
		return false;
	memcpy(&pfc, RTA_DATA(attribute), sizeof(pfc));
	*mask = pfc.pfc_en;
	return true;
}

/* Sends the request that 'dcb pfc show' sends. */
static bool ask_pfc(int fd, const char *name)
{
	struct {
		struct nlmsghdr head;
		struct dcbmsg dcb;
		struct rtattr attribute;
		char name[IFNAMSIZ];
	} question = {
		.head = {.nlmsg_len = sizeof(question),
			 .nlmsg_type = RTM_GETDCB,
			 .nlmsg_flags = NLM_F_REQUEST},
		.dcb = {.dcb_family = AF_UNSPEC,                             .cmd = DCB_CMD_IEEE_GET    },
		.attribute = {.rta_type = DCB_ATTR_IFNAME,
                         .rta_len = RTA_LENGTH(sizeof(question.name))},
	};

	snprintf(question.name, sizeof(question.name), "%s", name);
	return send(fd, &question, sizeof(question), 0) == (ssize_t)sizeof(question);
}

static void add_pfc(json_t *section, const char *name)
{
	_Alignas(struct nlmsghdr) char answer[8192];
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	unsigned int mask;
	ssize_t length = -1;

	if (fd < 0)
		return;
	if (ask_pfc(fd, name) && poll(&poll_fd, 1, ANSWER_MS) > 0)
		length = recv(fd, answer, sizeof(answer), 0);
	if (length > 0 && facts_take_pfc(answer, (size_t)length, &mask))
		json_object_set_new(section, "pfc", priorities(mask));
	close(fd);
}

json_t *facts_flow(const struct facts_place *place)
{
	json_t *section = json_object();
	char name[IFNAMSIZ];

	if (facts_is_software(place) || !facts_interface(place, name, sizeof(name)))
		return section;
	add_ecn(section, place->root, name);
	/* ioctl and netlink only work for this machine. */
	if (!place->root[0]) {
		add_pause(section, name);
		add_pfc(section, name);
	}
	return section;
}
