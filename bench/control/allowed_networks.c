/* SPDX-License-Identifier: MIT */
#include "bench/control/allowed_networks.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "bench/cli/value.h"
#include "core/base/address.h"

#define MAPPED_BITS 96

/* Parses a numeric address, without abbreviations. Returns its length in bits, or 0. */
static unsigned int read_address(const char *text, struct sockaddr_storage *address)
{
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
	struct sockaddr_in in = {.sin_family = AF_INET};

	memset(address, 0, sizeof(*address));
	if (inet_pton(AF_INET, text, &in.sin_addr) == 1) {
		memcpy(address, &in, sizeof(in));
		return 32;
	}
	if (inet_pton(AF_INET6, text, &in6.sin6_addr) != 1)
		return 0;
	memcpy(address, &in6, sizeof(in6));
	return 128;
}

static bool allowed_networks_add(struct allowed_networks *allowed, const char *text, size_t length)
{
	struct sockaddr_storage *address = &allowed->network[allowed->count].address;
	char word[ADDRESS_TEXT];
	struct sockaddr_storage plain;
	uint64_t prefix;
	unsigned int bits;
	char *slash;

	if (!length || length >= sizeof(word))
		return false;
	snprintf(word, sizeof(word), "%.*s", (int)length, text);
	slash = strchr(word, '/');
	if (slash)
		*slash = '\0';
	bits = read_address(word, address);
	prefix = bits;
	if (!bits || (slash && !value_count(slash + 1, 0, bits, &prefix)))
		return false;
	plain = *address;
	address_unmap(&plain);
	if (plain.ss_family != address->ss_family && prefix >= MAPPED_BITS) {
		*address = plain;
		prefix -= MAPPED_BITS;
	}
	allowed->network[allowed->count++].prefix = (unsigned int)prefix;
	return true;
}

const char *allowed_networks_parse(const char *text, void *field)
{
	struct allowed_networks *allowed = field;

	for (;;) {
		size_t length = strcspn(text, ",");

		if (allowed->count == ALLOWED_NETWORKS_MOST)
			return "has more than 64 networks";
		if (!allowed_networks_add(allowed, text, length))
			return "is not a list of networks, such as 10.0.0.0/8,192.0.2.7,fd00::/8";
		if (!text[length])
			return NULL;
		text += length + 1;
	}
}

bool allowed_networks_permits(const struct allowed_networks *allowed,
			      const struct sockaddr *address)
{
	struct sockaddr_storage plain = {0};

	memcpy(&plain, address, address_length(address));
	address_unmap(&plain);
	for (size_t i = 0; i < allowed->count; i++)
		if (address_same_network((const struct sockaddr *)&allowed->network[i].address,
					 (const struct sockaddr *)&plain,
					 allowed->network[i].prefix))
			return true;
	return !allowed->count;
}
