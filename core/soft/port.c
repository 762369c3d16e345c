/* SPDX-License-Identifier: MIT */
#include "core/soft/port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <pthread.h>
#include <string.h>
#include <sys/types.h>

#include "core/soft/device.h"
#include "core/soft/export.h"
#include "core/soft/fault/fault.h"
#include "core/soft/peer/process.h"

enum {
	WIDTH_4X = 2,
	SPEED_EDR = 32,
	PHYSICAL_POLLING = 2,
	PHYSICAL_LINK_UP = 5,
};

/* The default partition, and others, all with full membership. */
static const uint16_t pkeys[SOFT_PKEYS] = {0xffff, 0x8001, 0x8002, 0x8003};

/* Ranks addresses by preference, lowest first; -1 means unusable. */
static int rank(const struct ifaddrs *one)
{
	int result = 0;

	if (!one->ifa_addr || !(one->ifa_flags & IFF_UP))
		return -1;
	if (one->ifa_addr->sa_family == AF_INET6)
		result = 1;
	else if (one->ifa_addr->sa_family != AF_INET)
		return -1;
	if (result) {
		const struct sockaddr_in6 *address = (const void *)one->ifa_addr;

		result += IN6_IS_ADDR_LINKLOCAL(&address->sin6_addr);
	}
	return result + (one->ifa_flags & IFF_LOOPBACK ? 3 : 0);
}

static void to_gid(const struct sockaddr *from, union ibv_gid *gid)
{
	const struct sockaddr_in6 *v6 = (const void *)from;
	const struct sockaddr_in *v4 = (const void *)from;

	if (from->sa_family == AF_INET6)
		memcpy(gid, &v6->sin6_addr, sizeof(*gid));
	else
		soft_port_map(gid, &v4->sin_addr);
}

/* Returns true if it added a new GID. Peers may be reading the image. */
static bool soft_port_add(struct soft_image *image, const struct sockaddr *address,
			  const char *interface, uint32_t most)
{
	union ibv_gid gid;
	uint32_t count = image->gid_count;

	to_gid(address, &gid);
	if (count >= most || soft_port_index(image, &gid) >= 0)
		return false;
	image->interface[count] = if_nametoindex(interface);
	image->gid[count] = gid;
	__atomic_store_n(&image->gid_count, count + 1, __ATOMIC_RELEASE);
	return true;
}

/* Returns whether any address was new. */
static bool add_all(struct soft_image *image, uint32_t most)
{
	struct ifaddrs *all = NULL;
	bool has_new = false;

	if (getifaddrs(&all))
		return false;
	for (int wanted = 0; wanted < 6; wanted++)
		for (const struct ifaddrs *one = all; one; one = one->ifa_next)
			if (rank(one) == wanted)
				has_new |= soft_port_add(image, one->ifa_addr, one->ifa_name, most);
	freeifaddrs(all);
	return has_new;
}

void soft_port_fill(struct soft_image *image)
{
	static const struct sockaddr_in localhost = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = __builtin_bswap32(INADDR_LOOPBACK),
	};

	/*
	 * A process can always reach itself, even if the loopback interface is down or the table is
	 * full.
	 */
	add_all(image, SOFT_GIDS - 1);
	soft_port_add(image, (const struct sockaddr *)&localhost, "lo", SOFT_GIDS);
}

int soft_port_find(const union ibv_gid *gid)
{
	struct soft_image *image = soft_process.arena.image;
	int index = soft_port_index(image, gid);
	bool has_new;

	if (index >= 0)
		return index;
	pthread_mutex_lock(&soft_process.gids_mutex);
	has_new = add_all(image, SOFT_GIDS);
	pthread_mutex_unlock(&soft_process.gids_mutex);
	if (has_new)
		soft_device_report(IBV_EVENT_GID_CHANGE);
	return soft_port_index(image, gid);
}

const union ibv_gid *soft_port_gid(const struct soft_image *image, uint32_t index)
{
	uint32_t count = __atomic_load_n(&image->gid_count, __ATOMIC_ACQUIRE);

	return index < count && index < SOFT_GIDS ? &image->gid[index] : NULL;
}

int soft_port_index(const struct soft_image *image, const union ibv_gid *gid)
{
	const union ibv_gid *one;

	for (uint32_t i = 0; (one = soft_port_gid(image, i)); i++)
		if (!memcmp(one, gid, sizeof(*gid)))
			return (int)i;
	return -1;
}

bool soft_port_is_v4(const union ibv_gid *gid)
{
	static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};

	return !memcmp(gid, mapped, sizeof(mapped));
}

void soft_port_attributes(struct ibv_port_attr *attr)
{
	*attr = (struct ibv_port_attr){
		.state = IBV_PORT_ACTIVE,
		.max_mtu = SOFT_MTU,
		.active_mtu = SOFT_MTU,
		.gid_tbl_len = SOFT_GIDS,
		.port_cap_flags = IBV_PORT_IP_BASED_GIDS,
		.max_msg_sz = SOFT_MESSAGE_MAX,
		.pkey_tbl_len = SOFT_PKEYS,
		.max_vl_num = 1,
		.active_width = WIDTH_4X,
		.active_speed = SPEED_EDR,
		.phys_state = PHYSICAL_LINK_UP,
		.link_layer = IBV_LINK_LAYER_ETHERNET,
	};
	if (!soft_fault_is_down())
		return;
	attr->state = IBV_PORT_DOWN;
	attr->phys_state = PHYSICAL_POLLING;
}

int soft_port_query(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr,
		    size_t size)
{
	struct ibv_port_attr all;

	if (port != SOFT_PORT)
		return EINVAL;
	soft_port_attributes(&all);
	memset(attr, 0, size);
	memcpy(attr, &all, size < sizeof(all) ? size : sizeof(all));
	return 0;
}

/* Older programs have a shorter struct. */
SOFT_EXPORT int ibv_query_port(struct ibv_context *context, uint8_t port,
			       struct _compat_ibv_port_attr *attr)
{
	return soft_port_query(context, port, (struct ibv_port_attr *)attr,
			       offsetof(struct ibv_port_attr, port_cap_flags2));
}

SOFT_EXPORT int ibv_query_gid(struct ibv_context *context, uint8_t port, int index,
			      union ibv_gid *gid)
{
	const union ibv_gid *found;

	if (port != SOFT_PORT || index < 0 || index >= SOFT_GIDS) {
		errno = EINVAL;
		return -1;
	}
	found = soft_port_gid(soft_process.arena.image, (uint32_t)index);
	if (found)
		*gid = *found;
	else
		memset(gid, 0, sizeof(*gid));
	return 0;
}

static void fill_entry(struct ibv_gid_entry *entry, uint32_t index)
{
	*entry = (struct ibv_gid_entry){
		.gid = soft_process.arena.image->gid[index],
		.gid_index = index,
		.port_num = SOFT_PORT,
		.gid_type = IBV_GID_TYPE_ROCE_V2,
		.ndev_ifindex = soft_process.arena.image->interface[index],
	};
}

SOFT_EXPORT int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index,
				  struct ibv_gid_entry *entry, uint32_t flags, size_t size)
{
	struct ibv_gid_entry all;

	if (port != SOFT_PORT || index >= SOFT_GIDS)
		return EINVAL;
	if (flags)
		return EOPNOTSUPP;
	if (!soft_port_gid(soft_process.arena.image, index))
		return ENODATA;
	fill_entry(&all, index);
	memset(entry, 0, size);
	memcpy(entry, &all, size < sizeof(all) ? size : sizeof(all));
	return 0;
}

SOFT_EXPORT ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries,
					 size_t count, uint32_t flags, size_t size)
{
	uint32_t known = 0;

	if (flags || size != sizeof(*entries))
		return -EOPNOTSUPP;
	while (soft_port_gid(soft_process.arena.image, known))
		known++;
	if (count < known)
		return -EINVAL;
	for (uint32_t i = 0; i < known; i++)
		fill_entry(&entries[i], i);
	return (ssize_t)known;
}

/* A private function of libibverbs and its tools; the type is as in the kernel's sysfs files. */
SOFT_EXPORT int ibv_query_gid_type(struct ibv_context *context, uint8_t port, unsigned int index,
				   unsigned int *type);

SOFT_EXPORT int ibv_query_gid_type(struct ibv_context *context, uint8_t port, unsigned int index,
				   unsigned int *type)
{
	static const unsigned int roce_v2 = 1;

	if (port != SOFT_PORT || index >= SOFT_GIDS) {
		errno = EINVAL;
		return -1;
	}
	*type = roce_v2;
	return 0;
}

SOFT_EXPORT int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey)
{
	if (port != SOFT_PORT || index < 0 || index >= SOFT_PKEYS) {
		errno = EINVAL;
		return -1;
	}
	*pkey = htons(pkeys[index]);
	return 0;
}

SOFT_EXPORT int ibv_get_pkey_index(struct ibv_context *context, uint8_t port, __be16 pkey)
{
	for (int i = 0; port == SOFT_PORT && i < SOFT_PKEYS; i++)
		if (pkey == htons(pkeys[i]))
			return i;
	errno = EINVAL;
	return -1;
}
