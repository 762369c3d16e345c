/* SPDX-License-Identifier: MIT */
#include "core/soft/cm/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/soft/peer/process.h"
#include "core/soft/port.h"

int soft_cm_address_take(struct soft_cm_address *address, const struct sockaddr *from)
{
	memset(address, 0, sizeof(*address));
	address->family = from->sa_family;
	if (from->sa_family == AF_INET) {
		const struct sockaddr_in *v4 = (const void *)from;

		soft_port_map(&address->gid, &v4->sin_addr);
		address->port = ntohs(v4->sin_port);
	} else if (from->sa_family == AF_INET6) {
		const struct sockaddr_in6 *v6 = (const void *)from;

		memcpy(&address->gid, &v6->sin6_addr, sizeof(address->gid));
		address->port = ntohs(v6->sin6_port);
		address->scope = v6->sin6_scope_id;
	} else {
		return -EAFNOSUPPORT;
	}
	return 0;
}

void soft_cm_address_give(const struct soft_cm_address *address, struct sockaddr_storage *to)
{
	memset(to, 0, sizeof(*to));
	if (address->family == AF_INET) {
		struct sockaddr_in *v4 = (void *)to;

		v4->sin_family = AF_INET;
		v4->sin_port = htons(address->port);
		memcpy(&v4->sin_addr, &address->gid.raw[12], sizeof(v4->sin_addr));
	} else if (address->family == AF_INET6) {
		struct sockaddr_in6 *v6 = (void *)to;

		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(address->port);
		v6->sin6_scope_id = address->scope;
		memcpy(&v6->sin6_addr, &address->gid, sizeof(v6->sin6_addr));
	}
}

bool soft_cm_address_is_any(const struct soft_cm_address *address)
{
	static const union ibv_gid none;

	if (soft_port_is_v4(&address->gid))
		return !memcmp(&address->gid.raw[12], &none, 4);
	return !memcmp(&address->gid, &none, sizeof(none));
}

int soft_cm_address_index(const struct soft_cm_address *address)
{
	return soft_port_index(soft_process.arena.image, &address->gid);
}

bool soft_cm_address_is_own(const struct soft_cm_address *address)
{
	return soft_port_find(&address->gid) >= 0;
}

int soft_cm_address_source(const struct soft_cm_address *to, struct soft_cm_address *from)
{
	struct sockaddr_storage storage;
	socklen_t size = sizeof(storage);
	int result = 0;
	int fd = socket(to->family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	soft_cm_address_give(to, &storage);
	/* Connecting a datagram socket sends nothing: it only looks the route up. */
	if (connect(fd, (const struct sockaddr *)&storage,
		    to->family == AF_INET ? sizeof(struct sockaddr_in)
					  : sizeof(struct sockaddr_in6)) ||
	    getsockname(fd, (struct sockaddr *)&storage, &size))
		result = -errno;
	close(fd);
	if (!result)
		result = soft_cm_address_take(from, (const struct sockaddr *)&storage);
	from->port = 0;
	return result;
}
