/* SPDX-License-Identifier: MIT */
/*
 * Bytes received on a control connection: frames, including heartbeats, until the inbox is full.
 * Received in pieces, whose length is the low seven bits of the first byte, they must give the same
 * messages. If the highest bit of the first byte is set, there is a secret, and each seal that
 * starts with a zero is replaced by the valid one.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/control/control.h"
#include "core/fuzz/fuzz.h"

static void take(struct control *control, const uint8_t *bytes, size_t size, size_t piece)
{
	while (size) {
		size_t length = size < piece ? size : piece;

		pthread_mutex_lock(&control->lock);
		control_take(control, bytes, length);
		pthread_mutex_unlock(&control->lock);
		bytes += length;
		size -= length;
	}
}

static const uint8_t key[SEAL_KEY] = "a secret of two";

/* Makes the requested seals valid, up to the first incomplete frame. */
static void seal_frames(uint8_t *bytes, size_t size)
{
	struct seal seal;

	seal_begin(&seal, key);
	while (size >= FRAME_HEAD) {
		uint32_t head;
		size_t length;

		memcpy(&head, bytes, sizeof(head));
		head = be32toh(head);
		bytes += FRAME_HEAD;
		size -= FRAME_HEAD;
		length = head & ~FRAME_SEALED;
		if (length > size)
			return;
		if (head & FRAME_SEALED && length > SEAL_SIZE && !bytes[length - SEAL_SIZE])
			seal_make(&seal, (uint32_t)length - SEAL_SIZE, bytes, length - SEAL_SIZE,
				  bytes + length - SEAL_SIZE);
		bytes += length;
		size -= length;
	}
}

static void check_put(const json_t *message, const uint8_t *frame, size_t length)
{
	char *body = json_dumps(message, JSON_COMPACT);
	uint8_t *put = malloc(length);

	FUZZ_CHECK(body && put && length == FRAME_HEAD + strlen(body));
	FUZZ_CHECK(frame_put(put, body, strlen(body), NULL) == length);
	FUZZ_CHECK(!memcmp(put, frame, length));
	free(put);
	free(body);
}

/* A sealed frame is accepted once, by a reader with the secret; not with another one, or none. */
static void check_sealed(const json_t *message)
{
	static const uint8_t other[SEAL_KEY] = "another one";
	struct frame_reader reader = {0};
	struct seal seal;
	struct error error = {0};
	json_t *again = NULL;
	uint8_t *frame;
	size_t length;
	size_t used;

	seal_begin(&seal, key);
	if (frame_encode_sealed(message, &seal, &frame, &length, &error))
		return;
	FUZZ_CHECK(frame_read(&reader, frame, length, &used, &again, &error) == -EPROTO);
	frame_finish(&reader);
	seal_begin(&reader.seal, other);
	FUZZ_CHECK(frame_read(&reader, frame, length, &used, &again, &error) == -EBADMSG);
	seal_begin(&reader.seal, key);
	FUZZ_CHECK(frame_read(&reader, frame, length, &used, &again, &error) == 1);
	FUZZ_CHECK(used == length && json_equal(again, message));
	json_decref(again);
	FUZZ_CHECK(frame_read(&reader, frame, length, &used, &again, &error) == -EBADMSG);
	free(frame);
}

static void check_frame(const json_t *message)
{
	struct frame_reader reader = {0};
	struct error error = {0};
	json_t *again = NULL;
	size_t length = 0;
	uint8_t *frame = frame_encode(message, &length);
	size_t used;

	/* The frame may be longer than the original: \u escapes have six bytes for two of UTF-8. */
	if (!frame)
		return;
	FUZZ_CHECK(frame_read(&reader, frame, length, &used, &again, &error) == 1);
	FUZZ_CHECK(used == length && json_equal(again, message));
	json_decref(again);
	check_put(message, frame, length);
	free(frame);
	check_sealed(message);
}

static void compare(struct control *one, struct control *other)
{
	FUZZ_CHECK(one->n_inbox == other->n_inbox && one->n_inbox <= CONTROL_INBOX);
	while (one->n_inbox) {
		struct error error = {0};
		json_t *message;
		json_t *same;

		FUZZ_CHECK(!control_receive(one, &message, 0, &error));
		FUZZ_CHECK(!control_receive(other, &same, 0, &error));
		FUZZ_CHECK(json_is_object(message) && json_equal(message, same));
		check_frame(message);
		json_decref(message);
		json_decref(same);
	}
}

static void check_ends(struct control *one, struct control *other)
{
	struct error error = {0};
	struct error same = {0};
	int code = control_ended(one, &error);

	fuzz_check_error(code, &error);
	FUZZ_CHECK(control_ended(other, &same) == code && !strcmp(error.text, same.text));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct control whole = {.lock = PTHREAD_MUTEX_INITIALIZER,
				.changed = PTHREAD_COND_INITIALIZER};
	struct control pieces = {.lock = PTHREAD_MUTEX_INITIALIZER,
				 .changed = PTHREAD_COND_INITIALIZER};
	size_t piece = size ? bytes[0] & 0x7f : 0;
	uint8_t *frames;

	if (!size)
		return 0;
	/* Allocate the exact size, so that reading beyond the end is detected. */
	frames = malloc(size - 1 ? size - 1 : 1);
	FUZZ_CHECK(frames);
	memcpy(frames, bytes + 1, size - 1);
	if (bytes[0] & 0x80) {
		seal_frames(frames, size - 1);
		seal_begin(&whole.reader.seal, key);
		seal_begin(&pieces.reader.seal, key);
	}
	take(&whole, frames, size - 1, size);
	take(&pieces, frames, size - 1, piece ? piece : 1);
	compare(&whole, &pieces);
	check_ends(&whole, &pieces);
	frame_finish(&whole.reader);
	frame_finish(&pieces.reader);
	free(frames);
	return 0;
}
