/* SPDX-License-Identifier: MIT */
#include "bench/wire.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int take_head(struct wire_reader *reader, struct error *error)
{
	uint32_t length;

	memcpy(&length, reader->head, sizeof(length));
	reader->length = be32toh(length);
	if (!reader->length || reader->length > WIRE_MAX)
		return error_set(error, -EPROTO,
				 "a control message of %u bytes: the other end is not verbmark",
				 reader->length);
	reader->body = malloc(reader->length);
	if (!reader->body)
		return error_set_errno(error, -ENOMEM, "cannot take a control message");
	return 0;
}

void wire_printable(char *into, size_t size, const char *text)
{
	size_t i;

	for (i = 0; text[i] && i + 1 < size; i++)
		into[i] = (char)(text[i] < ' ' || text[i] > '~' ? '?' : text[i]);
	into[i] = '\0';
}

static int take_body(struct wire_reader *reader, json_t **message, struct error *error)
{
	char reason[sizeof(error->text)];
	json_error_t fault;

	*message = json_loadb(reader->body, reader->length, JSON_REJECT_DUPLICATES, &fault);
	wire_finish(reader);
	if (!*message) {
		/* It quotes what it did not understand. */
		wire_printable(reason, sizeof(reason), fault.text);
		return error_set(error, -EPROTO, "a control message is not JSON: %s", reason);
	}
	if (json_is_object(*message))
		return 1;
	json_decref(*message);
	*message = NULL;
	return error_set(error, -EPROTO, "a control message is not an object");
}

int wire_read(struct wire_reader *reader, const uint8_t *bytes, size_t length, size_t *used,
	      json_t **message, struct error *error)
{
	size_t at = 0;
	size_t part;
	int code;

	*used = length;
	while (reader->have < WIRE_HEAD && at < length)
		reader->head[reader->have++] = bytes[at++];
	if (reader->have < WIRE_HEAD)
		return 0;
	if (!reader->body) {
		code = take_head(reader, error);
		if (!reader->body)
			return code;
	}
	part = WIRE_HEAD + (size_t)reader->length - reader->have;
	if (part > length - at)
		part = length - at;
	memcpy(reader->body + (reader->have - WIRE_HEAD), bytes + at, part);
	reader->have += part;
	*used = at + part;
	if (reader->have < WIRE_HEAD + (size_t)reader->length)
		return 0;
	return take_body(reader, message, error);
}

void wire_finish(struct wire_reader *reader)
{
	free(reader->body);
	*reader = (struct wire_reader){0};
}

uint8_t *wire_frame(const json_t *message, size_t *length)
{
	size_t size = json_dumpb(message, NULL, 0, JSON_COMPACT);
	uint32_t head = htobe32((uint32_t)size);
	uint8_t *frame;

	if (!size || size > WIRE_MAX)
		return NULL;
	frame = malloc(WIRE_HEAD + size);
	if (!frame)
		return NULL;
	memcpy(frame, &head, sizeof(head));
	json_dumpb(message, (char *)frame + WIRE_HEAD, size, JSON_COMPACT);
	*length = WIRE_HEAD + size;
	return frame;
}
