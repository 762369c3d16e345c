/* SPDX-License-Identifier: MIT */
#include "core/rdma/private_data.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define GREETING_MAGIC 0x56424d4b /* VBMK */
#define REFUSAL_MAGIC  0x56424d4e /* VBMN */

struct head {
	uint32_t magic;
	uint16_t version;
	uint16_t length; /* total length in bytes */
};

struct greeting {
	struct head head;
	uint64_t address;
	uint64_t size;
	uint32_t rkey;
	uint32_t reserved;
};

struct refusal {
	struct head head;
	char text[PRIVATE_DATA_REFUSAL - sizeof(struct head)];
};

_Static_assert(sizeof(struct greeting) == PRIVATE_DATA_GREETING, "no padding on the wire");
_Static_assert(sizeof(struct greeting) + PRIVATE_DATA_TICKET <= 56,
	       "must fit in a connect request");
_Static_assert(sizeof(struct refusal) == PRIVATE_DATA_REFUSAL,
	       "must fill the private data of a reject");

size_t private_data_greet(uint8_t data[static PRIVATE_DATA_GREETING], const struct rdma_remote *own)
{
	const struct greeting greeting = {
		.head = {.magic = htobe32(GREETING_MAGIC),
			 .version = htobe16(PRIVATE_DATA_VERSION),
			 .length = htobe16(sizeof(greeting))},
		.address = htobe64(own->address),
		.size = htobe64(own->size),
		.rkey = htobe32(own->rkey),
	};

	memcpy(data, &greeting, sizeof(greeting));
	return sizeof(greeting);
}

int private_data_read(struct rdma_remote *remote, const void *data, size_t length,
		      struct error *error)
{
	struct greeting greeting;
	uint16_t version;

	if (!data || length < sizeof(greeting.head))
		return error_set(error, -EPROTO, "the peer is not verbmark: it sent no greeting");
	memcpy(&greeting.head, data, sizeof(greeting.head));
	if (be32toh(greeting.head.magic) != GREETING_MAGIC)
		return error_set(error, -EPROTO, "the peer is not verbmark: unknown greeting");
	version = be16toh(greeting.head.version);
	if (version != PRIVATE_DATA_VERSION)
		return error_set(error, -EPROTONOSUPPORT,
				 "the peer uses connection version %u, this side uses %u", version,
				 PRIVATE_DATA_VERSION);
	if (be16toh(greeting.head.length) != sizeof(greeting) || length < sizeof(greeting))
		return error_set(error, -EPROTO, "the peer's greeting has the wrong length");
	memcpy(&greeting, data, sizeof(greeting));
	*remote = (struct rdma_remote){.address = be64toh(greeting.address),
				       .size = be64toh(greeting.size),
				       .rkey = be32toh(greeting.rkey)};
	if (remote->address + remote->size < remote->address)
		return error_set(error, -EPROTO, "the peer's buffer wraps around");
	return 0;
}

size_t private_data_add_ticket(uint8_t data[static PRIVATE_DATA_GREETING + PRIVATE_DATA_TICKET],
			       const uint8_t ticket[static PRIVATE_DATA_TICKET])
{
	memcpy(data + PRIVATE_DATA_GREETING, ticket, PRIVATE_DATA_TICKET);
	return PRIVATE_DATA_GREETING + PRIVATE_DATA_TICKET;
}

int private_data_check_ticket(const void *data, size_t length,
			      const uint8_t ticket[static PRIVATE_DATA_TICKET], struct error *error)
{
	const uint8_t *found = (const uint8_t *)data + PRIVATE_DATA_GREETING;
	volatile uint8_t differs = 0;

	for (size_t i = 0;
	     i < PRIVATE_DATA_TICKET && length >= PRIVATE_DATA_GREETING + PRIVATE_DATA_TICKET; i++)
		differs |= found[i] ^ ticket[i];
	if (length >= PRIVATE_DATA_GREETING + PRIVATE_DATA_TICKET && !differs)
		return 0;
	return error_set(error, -EACCES, "missing or wrong ticket for this queue pair");
}

size_t private_data_refuse(uint8_t data[static PRIVATE_DATA_REFUSAL], const char *reason)
{
	struct refusal refusal = {
		.head = {.magic = htobe32(REFUSAL_MAGIC),
			 .version = htobe16(PRIVATE_DATA_VERSION)}
        };
	size_t length;

	snprintf(refusal.text, sizeof(refusal.text), "%s", reason);
	length = sizeof(refusal.head) + strlen(refusal.text);
	refusal.head.length = htobe16((uint16_t)length);
	memcpy(data, &refusal, sizeof(refusal));
	return length;
}

const char *private_data_reason(char text[static PRIVATE_DATA_REFUSAL], const void *data,
				size_t length)
{
	struct head head;
	size_t claimed;

	if (!data || length < sizeof(head))
		return NULL;
	memcpy(&head, data, sizeof(head));
	claimed = be16toh(head.length);
	if (be32toh(head.magic) != REFUSAL_MAGIC || claimed < sizeof(head) || claimed > length ||
	    claimed >= PRIVATE_DATA_REFUSAL)
		return NULL;
	claimed -= sizeof(head);
	memcpy(text, (const char *)data + sizeof(head), claimed);
	text[claimed] = '\0';
	/* The text goes to a terminal: replace everything unprintable. */
	for (size_t i = 0; i < claimed; i++)
		if (text[i] < ' ' || text[i] > '~')
			text[i] = '?';
	return text;
}
