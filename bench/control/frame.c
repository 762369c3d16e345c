/* SPDX-License-Identifier: MIT */
#include "bench/control/frame.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/printable.h"

static int take_head(struct frame_reader *reader, struct error *error)
{
	uint32_t limit = reader->limit ? reader->limit : FRAME_MAX;
	uint32_t head;

	memcpy(&head, reader->head, sizeof(head));
	head = be32toh(head);
	reader->is_sealed = head & FRAME_SEALED;
	reader->length = head & ~FRAME_SEALED;
	if (reader->is_sealed)
		limit += SEAL_SIZE;
	if (reader->length <= (reader->is_sealed ? SEAL_SIZE : 0) || reader->length > limit)
		return error_set(error, -EPROTO,
				 "control message of %u bytes: the peer is not verbmark",
				 reader->length);
	if (reader->is_sealed && !reader->seal.is_set)
		return error_set(error, -EPROTO,
				 "unexpected sealed control message: no secret is in use");
	if (!reader->is_sealed && reader->has_sealed)
		return error_set(error, -EBADMSG, "control message without a seal");
	reader->body = malloc(reader->length);
	if (!reader->body)
		return error_set_errno(error, -ENOMEM, "cannot receive a control message");
	return 0;
}

static bool is_type(const json_t *message, const char *type)
{
	const char *found = json_string_value(json_object_get(message, "type"));

	return found && !strcmp(found, type);
}

bool frame_is_beat(const json_t *message)
{
	return is_type(message, "alive");
}

bool frame_is_plain(const json_t *message)
{
	return frame_is_beat(message) || is_type(message, "refused");
}

/* Verifies the seal before the message is parsed. */
static int check_seal(struct frame_reader *reader, struct error *error)
{
	const uint8_t *found;

	if (!reader->is_sealed)
		return 0;
	reader->length -= SEAL_SIZE;
	found = (const uint8_t *)reader->body + reader->length;
	reader->has_sealed = true;
	if (seal_check(&reader->seal, reader->length, reader->body, reader->length, found))
		return 0;
	return error_set(error, -EBADMSG, "wrong seal: a control message was altered or forged");
}

/* Counts separators, including those in strings, which are few. */
static uint32_t count_members(const char *text, size_t length)
{
	uint32_t count = 0;

	for (size_t i = 0; i < length; i++)
		count += text[i] == '{' || text[i] == '[' || text[i] == ',';
	return count;
}

static int parse(const struct frame_reader *reader, json_t **message, struct error *error)
{
	uint32_t n_members = count_members(reader->body, reader->length);
	char reason[sizeof(error->text)];
	json_error_t fault;

	if (n_members > FRAME_MEMBERS)
		return error_set(error, -EPROTO,
				 "control message of %u members: the peer is not verbmark",
				 n_members);
	*message = json_loadb(reader->body, reader->length, JSON_REJECT_DUPLICATES, &fault);
	if (*message)
		return 0;
	/* jansson quotes the text that it could not parse. */
	printable_copy(reason, sizeof(reason), fault.text);
	return error_set(error, -EPROTO, "control message is not JSON: %s", reason);
}

static int frame_check(const struct frame_reader *reader, const json_t *message,
		       struct error *error)
{
	bool is_open = !reader->is_sealed && reader->seal.is_set;

	if (!json_is_object(message))
		return error_set(error, -EPROTO, "control message is not an object");
	if (is_open && !frame_is_plain(message))
		return error_set(error, -EBADMSG, "control message without a seal");
	if (frame_is_beat(message) && reader->length > FRAME_BEAT)
		return error_set(error, -EPROTO, "heartbeat of %u bytes: the peer is not verbmark",
				 reader->length);
	return 0;
}

static int take_body(struct frame_reader *reader, json_t **message, struct error *error)
{
	int code = check_seal(reader, error);

	*message = NULL;
	if (!code)
		code = parse(reader, message, error);
	if (!code)
		code = frame_check(reader, *message, error);
	frame_finish(reader);
	if (!code)
		return 1;
	json_decref(*message);
	*message = NULL;
	return code;
}

int frame_read(struct frame_reader *reader, const uint8_t *bytes, size_t length, size_t *used,
	       json_t **message, struct error *error)
{
	size_t at = 0;
	size_t part;
	int code;

	*used = length;
	while (reader->have < FRAME_HEAD && at < length)
		reader->head[reader->have++] = bytes[at++];
	if (reader->have < FRAME_HEAD)
		return 0;
	if (!reader->body) {
		code = take_head(reader, error);
		if (!reader->body)
			return code;
	}
	part = FRAME_HEAD + (size_t)reader->length - reader->have;
	if (part > length - at)
		part = length - at;
	memcpy(reader->body + (reader->have - FRAME_HEAD), bytes + at, part);
	reader->have += part;
	*used = at + part;
	if (reader->have < FRAME_HEAD + (size_t)reader->length)
		return 0;
	return take_body(reader, message, error);
}

void frame_finish(struct frame_reader *reader)
{
	free(reader->body);
	reader->body = NULL;
	reader->have = 0;
	reader->length = 0;
}

/* Adds the head and the seal to a body that is already in the frame. */
static size_t close_frame(uint8_t *frame, size_t size, struct seal *seal)
{
	bool is_sealed = seal && seal->is_set;
	size_t whole = size + (is_sealed ? SEAL_SIZE : 0);
	uint32_t head = htobe32((uint32_t)whole | (is_sealed ? FRAME_SEALED : 0));

	memcpy(frame, &head, sizeof(head));
	if (is_sealed)
		seal_make(seal, (uint32_t)size, frame + FRAME_HEAD, size,
			  frame + FRAME_HEAD + size);
	return FRAME_HEAD + whole;
}

size_t frame_put(uint8_t *frame, const char *body, size_t size, struct seal *seal)
{
	memcpy(frame + FRAME_HEAD, body, size);
	return close_frame(frame, size, seal);
}

/* Rejects a message that the peer would reject. */
static int check_length(const uint8_t *body, size_t size, struct error *error)
{
	uint32_t n_members = count_members((const char *)body, size);

	if (n_members <= FRAME_MEMBERS)
		return 0;
	return error_set(error, -EMSGSIZE, "control message of %u members exceeds the limit of %u",
			 n_members, FRAME_MEMBERS);
}

int frame_encode_sealed(const json_t *message, struct seal *seal, uint8_t **frame, size_t *length,
			struct error *error)
{
	size_t size = json_dumpb(message, NULL, 0, JSON_COMPACT);
	int code;

	*frame = NULL;
	if (size > FRAME_MAX)
		return error_set(error, -EMSGSIZE,
				 "control message of %zu bytes exceeds the limit of %u", size,
				 FRAME_MAX);
	*frame = size ? malloc(FRAME_HEAD + size + SEAL_SIZE) : NULL;
	if (!*frame)
		return error_set_errno(error, -ENOMEM, "cannot send a control message");
	json_dumpb(message, (char *)*frame + FRAME_HEAD, size, JSON_COMPACT);
	code = check_length(*frame + FRAME_HEAD, size, error);
	if (!code) {
		*length = close_frame(*frame, size, seal);
		return 0;
	}
	free(*frame);
	*frame = NULL;
	return code;
}

uint8_t *frame_encode(const json_t *message, size_t *length)
{
	struct error ignored = {0};
	uint8_t *frame;

	frame_encode_sealed(message, NULL, &frame, length, &ignored);
	return frame;
}
