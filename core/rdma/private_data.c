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
	char text[HANDSHAKE_REFUSAL - sizeof(struct head)];
};

_Static_assert(sizeof(struct greeting) == HANDSHAKE_GREETING, "no padding on the wire");
_Static_assert(sizeof(struct greeting) + HANDSHAKE_TICKET <= 56,
	       "what rdma_cm leaves of a connect request");
_Static_assert(sizeof(struct refusal) == HANDSHAKE_REFUSAL, "what rdma_cm takes in a reject");

size_t handshake_greet(uint8_t data[static HANDSHAKE_GREETING], const struct rdma_remote *own)
{
	const struct greeting greeting = {
		.head = {.magic = htobe32(GREETING_MAGIC),
			 .version = htobe16(HANDSHAKE_VERSION),
			 .length = htobe16(sizeof(greeting))},
		.address = htobe64(own->address),
		.size = htobe64(own->size),
		.rkey = htobe32(own->rkey),
	};

	memcpy(data, &greeting, sizeof(greeting));
	return sizeof(greeting);
}

int handshake_read(struct rdma_remote *remote, const void *data, size_t length, struct error *error)
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
	if (version != HANDSHAKE_VERSION)
		return error_set(error, -EPROTONOSUPPORT,
				 "the other end speaks version %u of the connection, we speak %u",
				 version, HANDSHAKE_VERSION);
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

size_t handshake_add_ticket(uint8_t data[static HANDSHAKE_GREETING + HANDSHAKE_TICKET],
			    const uint8_t ticket[static HANDSHAKE_TICKET])
{
	memcpy(data + HANDSHAKE_GREETING, ticket, HANDSHAKE_TICKET);
	return HANDSHAKE_GREETING + HANDSHAKE_TICKET;
}

int handshake_check_ticket(const void *data, size_t length,
			   const uint8_t ticket[static HANDSHAKE_TICKET], struct error *error)
{
	const uint8_t *found = (const uint8_t *)data + HANDSHAKE_GREETING;
	volatile uint8_t differs = 0;

	for (size_t i = 0; i < HANDSHAKE_TICKET && length >= HANDSHAKE_GREETING + HANDSHAKE_TICKET;
	     i++)
		differs |= found[i] ^ ticket[i];
	if (length >= HANDSHAKE_GREETING + HANDSHAKE_TICKET && !differs)
		return 0;
	return error_set(error, -EACCES,
			 "this queue pair is for a client that was told its ticket");
}

size_t handshake_refuse(uint8_t data[static HANDSHAKE_REFUSAL], const char *reason)
{
	struct refusal refusal = {
		.head = {.magic = htobe32(REFUSAL_MAGIC), .version = htobe16(HANDSHAKE_VERSION)}
        };
	size_t length;

	snprintf(refusal.text, sizeof(refusal.text), "%s", reason);
	length = sizeof(refusal.head) + strlen(refusal.text);
	refusal.head.length = htobe16((uint16_t)length);
	memcpy(data, &refusal, sizeof(refusal));
	return length;
}

const char *handshake_reason(char text[static HANDSHAKE_REFUSAL], const void *data, size_t length)
{
	struct head head;
	size_t said;

	if (!data || length < sizeof(head))
		return NULL;
	memcpy(&head, data, sizeof(head));
	said = be16toh(head.length);
	if (be32toh(head.magic) != REFUSAL_MAGIC || said < sizeof(head) || said > length ||
	    said >= HANDSHAKE_REFUSAL)
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
