/* SPDX-License-Identifier: MIT */
/*
 * What comes on a control connection: frames, beats among them, until the inbox is full.
 * The same bytes in pieces, whose length is the first one, are the same messages.
 */
#include <string.h>

#include "bench/control.h"
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

static void check_frame(const json_t *message)
{
	struct wire_reader reader = {0};
	struct error error = {0};
	json_t *again = NULL;
	size_t length = 0;
	uint8_t *frame = wire_frame(message, &length);
	size_t used;

	/* Written, it may be longer than it was: a letter of two bytes has six as an escape. */
	if (!frame)
		return;
	FUZZ_CHECK(wire_read(&reader, frame, length, &used, &again, &error) == 1);
	FUZZ_CHECK(used == length && json_equal(again, message));
	json_decref(again);
	free(frame);
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

	if (!size)
		return 0;
	take(&whole, bytes + 1, size - 1, size);
	take(&pieces, bytes + 1, size - 1, bytes[0] ? bytes[0] : 1);
	compare(&whole, &pieces);
	check_ends(&whole, &pieces);
	wire_finish(&whole.reader);
	wire_finish(&pieces.reader);
	return 0;
}
