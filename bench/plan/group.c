/* SPDX-License-Identifier: MIT */
#include "bench/plan/group.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

/* The flags and the scope, in the second byte of an IPv6 address. */
#define KIND_SHIFT 32
/* Bit that is set for IPv6 only: the first byte of the address is 0xff. */
#define IS_V6 (UINT64_C(0xff) << 40)

static const char not_a_group[] =
	"is not a multicast address with a group ID of 32 bits (e.g. 239.1.2.3 or ff0e::7)";

static struct in6_addr v6_of(uint64_t group)
{
	struct in6_addr address = {0};
	uint32_t id = htonl((uint32_t)group);

	address.s6_addr[0] = 0xff;
	address.s6_addr[1] = (uint8_t)(group >> KIND_SHIFT);
	memcpy(&address.s6_addr[12], &id, sizeof(id));
	return address;
}

static uint64_t of_v6(const struct in6_addr *address)
{
	uint32_t id;

	memcpy(&id, &address->s6_addr[12], sizeof(id));
	return IS_V6 | (uint64_t)address->s6_addr[1] << KIND_SHIFT | ntohl(id);
}

const char *group_parse(const char *text, uint64_t *group)
{
	struct in6_addr again;
	struct in6_addr v6;
	struct in_addr v4;

	if (inet_pton(AF_INET, text, &v4) == 1) {
		*group = ntohl(v4.s_addr);
		return IN_MULTICAST(*group) ? NULL : not_a_group;
	}
	if (inet_pton(AF_INET6, text, &v6) != 1)
		return not_a_group;
	*group = of_v6(&v6);
	again = v6_of(*group);
	return IN6_ARE_ADDR_EQUAL(&again, &v6) ? NULL : not_a_group;
}

struct sockaddr_storage group_address(uint64_t group)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl((uint32_t)group)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = v6_of(group)};
	struct sockaddr_storage address = {0};

	if (group & IS_V6)
		memcpy(&address, &v6, sizeof(v6));
	else
		memcpy(&address, &v4, sizeof(v4));
	return address;
}

void group_print(uint64_t group, char *text, size_t size)
{
	const struct in6_addr v6 = v6_of(group);
	const struct in_addr v4 = {.s_addr = htonl((uint32_t)group)};

	if (group & IS_V6)
		inet_ntop(AF_INET6, &v6, text, (socklen_t)size);
	else
		inet_ntop(AF_INET, &v4, text, (socklen_t)size);
}
