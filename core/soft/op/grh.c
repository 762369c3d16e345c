/* SPDX-License-Identifier: MIT */
#include "core/soft/op/grh.h"

#include <arpa/inet.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/soft/port.h"

enum {
	V4_AT = 20,
	HOPS = 64,
	/* BTH, DETH and ICRC, which count as payload in the header. */
	TRANSPORT_BYTES = 12 + 8 + 4,
};

/* RFC 1071. */
static uint16_t checksum(const struct iphdr *header)
{
	uint16_t words[sizeof(*header) / sizeof(uint16_t)];
	uint32_t sum = 0;

	memcpy(words, header, sizeof(words));
	for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
		sum += ntohs(words[i]);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

static void write_v4(unsigned char *grh, const union ibv_gid *from, const union ibv_gid *to,
		     uint8_t traffic_class, uint16_t length)
{
	struct iphdr header = {
		.version = 4,
		.ihl = 5,
		.tos = traffic_class,
		.tot_len = htons((uint16_t)(sizeof(header) + length)),
		.frag_off = htons(IP_DF),
		.ttl = HOPS,
		.protocol = IPPROTO_UDP,
	};

	memcpy(&header.saddr, &from->raw[12], sizeof(header.saddr));
	memcpy(&header.daddr, &to->raw[12], sizeof(header.daddr));
	header.check = checksum(&header);
	memset(grh, 0, V4_AT);
	memcpy(grh + V4_AT, &header, sizeof(header));
}

void soft_grh_write(unsigned char grh[static SOFT_GRH], const union ibv_gid *from,
		    const union ibv_gid *to, uint8_t traffic_class, uint32_t length)
{
	uint16_t carried = (uint16_t)(sizeof(struct udphdr) + TRANSPORT_BYTES + length);
	struct ibv_grh header = {
		.version_tclass_flow = htonl(UINT32_C(6) << 28 | (uint32_t)traffic_class << 20),
		.paylen = htons(carried),
		.next_hdr = IPPROTO_UDP,
		.hop_limit = HOPS,
		.sgid = *from,
		.dgid = *to,
	};

	if (soft_port_is_v4(from) && soft_port_is_v4(to))
		write_v4(grh, from, to, traffic_class, carried);
	else
		memcpy(grh, &header, sizeof(header));
}

void soft_grh_read(const void *grh, union ibv_gid *from, union ibv_gid *to, uint8_t *traffic_class)
{
	struct ibv_grh v6;
	struct iphdr v4;

	memcpy(&v6, grh, sizeof(v6));
	memcpy(&v4, (const char *)grh + V4_AT, sizeof(v4));
	if (ntohl(v6.version_tclass_flow) >> 28 == 6) {
		*from = v6.sgid;
		*to = v6.dgid;
		*traffic_class = (uint8_t)(ntohl(v6.version_tclass_flow) >> 20);
	} else {
		soft_port_map(from, &v4.saddr);
		soft_port_map(to, &v4.daddr);
		*traffic_class = v4.tos;
	}
}
