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
	uint16_t length; /* of all of it */
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
	       "what rdma_cm leaves of a connect request");
_Static_assert(sizeof(struct refusal) == PRIVATE_DATA_REFUSAL, "what rdma_cm takes in a reject");

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
		return error_set(error, -EPROTO,
				 "the other end is not verbmark: it sent no greeting");
	memcpy(&greeting.head, data, sizeof(greeting.head));
	if (be32toh(greeting.head.magic) != GREETING_MAGIC)
		return error_set(error, -EPROTO,
				 "the other end is not verbmark: its greeting is not ours");
	version = be16toh(greeting.head.version);
	if (version != PRIVATE_DATA_VERSION)
		return error_set(error, -EPROTONOSUPPORT,
				 "the other end speaks version %u of the connection, we speak %u",
				 version, PRIVATE_DATA_VERSION);
	if (be16toh(greeting.head.length) != sizeof(greeting) || length < sizeof(greeting))
		return error_set(error, -EPROTO, "the other end's greeting has a wrong length");
	memcpy(&greeting, data, sizeof(greeting));
	*remote = (struct rdma_remote){.address = be64toh(greeting.address),
				       .size = be64toh(greeting.size),
				       .rkey = be32toh(greeting.rkey)};
	if (remote->address + remote->size < remote->address)
		return error_set(error, -EPROTO, "the other end's buffer wraps around");
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
	return error_set(error, -EACCES,
			 "this queue pair is for a client that was told its ticket");
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
	size_t said;

	if (!data || length < sizeof(head))
		return NULL;
	memcpy(&head, data, sizeof(head));
	said = be16toh(head.length);
	if (be32toh(head.magic) != REFUSAL_MAGIC || said < sizeof(head) || said > length ||
	    said >= PRIVATE_DATA_REFUSAL)
		return NULL;
	said -= sizeof(head);
	memcpy(text, (const char *)data + sizeof(head), said);
	text[said] = '\0';
	/* It goes to somebody's terminal: nothing but text may. */
	for (size_t i = 0; i < said; i++)
		if (text[i] < ' ' || text[i] > '~')
			text[i] = '?';
	return text;
}
