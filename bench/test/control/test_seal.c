/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "bench/control/frame.h"
#include "core/base/compiler.h"
#include "core/test/lib/check.h"

#define HELLO "{\"type\":\"stop\"}"
#define ALIVE "{\"type\":\"alive\"}"

static const uint8_t key[SEAL_KEY] = "thirty-two bytes of key, no more";

/* Sender and receiver of one direction. */
struct line {
	struct seal sent;
	struct frame_reader reader;
};

static struct line line_open(void)
{
	struct line line = {0};

	seal_begin(&line.sent, key);
	seal_begin(&line.reader.seal, key);
	return line;
}

static size_t put(struct line *line, const char *body, uint8_t *frame)
{
	return frame_put(frame, body, strlen(body), line ? &line->sent : NULL);
}

/* Reads one frame: returns 1 for a message, or the error. */
static int take(struct line *line, const uint8_t *bytes, size_t length, struct error *error)
{
	json_t *message = NULL;
	size_t used;
	int code = frame_read(&line->reader, bytes, length, &used, &message, error);

	assert_int_equal(message != NULL, code == 1);
	json_decref(message);
	frame_finish(&line->reader);
	return code;
}

static void check_broken(struct line *line, const uint8_t *bytes, size_t length, int code)
{
	struct error error = {0};

	assert_int_equal(take(line, bytes, length, &error), code);
	assert_true(error.text[0]);
}

static void test_in_order(void **unused)
{
	struct line line = line_open();
	struct error error = {0};
	uint8_t frame[128];

	for (int i = 0; i < 100; i++)
		assert_int_equal(take(&line, frame, put(&line, HELLO, frame), &error), 1);
}

/* Any changed bit breaks the seal. */
static void test_changed(void **unused)
{
	struct line whole = line_open();
	uint8_t frame[128];
	size_t length = put(&whole, HELLO, frame);

	for (size_t bit = 0; bit < 8 * length; bit++) {
		struct line line = line_open();
		struct error error = {0};
		json_t *message = NULL;
		size_t used;

		frame[bit / 8] ^= (uint8_t)(1U << bit % 8);
		/* A longer length only makes the frame incomplete. */
		assert_true(frame_read(&line.reader, frame, length, &used, &message, &error) <= 0);
		assert_null(message);
		frame_finish(&line.reader);
		frame[bit / 8] ^= (uint8_t)(1U << bit % 8);
	}
}

static void test_repeated_and_dropped(void **unused)
{
	struct line line = line_open();
	struct error error = {0};
	uint8_t first[128];
	uint8_t second[128];
	size_t length = put(&line, HELLO, first);

	assert_int_equal(put(&line, HELLO, second), length);
	assert_int_equal(take(&line, first, length, &error), 1);
	check_broken(&line, first, length, -EBADMSG);
	line = line_open();
	check_broken(&line, second, length, -EBADMSG);
}

/* Each bit of a seal is compared, for bodies of all lengths around a block of the hash. */
static void test_all_of_a_seal_is_compared(void **unused)
{
	static const uint8_t body[257];

	for (size_t length = 0; length <= sizeof(body); length++) {
		uint8_t made[SEAL_SIZE];
		struct seal sent;

		seal_begin(&sent, key);
		seal_make(&sent, 7, body, length, made);
		for (size_t bit = 0; bit < 8 * SEAL_SIZE; bit++) {
			struct seal reader;

			seal_begin(&reader, key);
			made[bit / 8] ^= (uint8_t)(1U << bit % 8);
			assert_false(seal_check(&reader, 7, body, length, made));
			made[bit / 8] ^= (uint8_t)(1U << bit % 8);
		}
		seal_begin(&sent, key);
		assert_true(seal_check(&sent, 7, body, length, made));
	}
}

/* A seal with another key, such as the key of the other direction. */
static void test_another_key(void **unused)
{
	static const uint8_t other[SEAL_KEY] = "thirty-two bytes of key, another";
	struct line line = line_open();
	uint8_t frame[128];

	seal_begin(&line.sent, other);
	check_broken(&line, frame, put(&line, HELLO, frame), -EBADMSG);
}

static void test_unsealed(void **unused)
{
	static const char refused[] = "{\"type\":\"refused\",\"reason\":\"no\"}";
	struct line line = line_open();
	struct error error = {0};
	uint8_t frame[128];

	/* Before the first sealed frame, the peer may not know the key yet. */
	assert_int_equal(take(&line, frame, put(NULL, ALIVE, frame), &error), 1);
	assert_int_equal(take(&line, frame, put(NULL, refused, frame), &error), 1);
	check_broken(&line, frame, put(NULL, HELLO, frame), -EBADMSG);
	check_broken(&line, frame, put(NULL, "{}", frame), -EBADMSG);
	check_broken(&line, frame, put(NULL, "{\"type\":7}", frame), -EBADMSG);
	assert_int_equal(take(&line, frame, put(&line, HELLO, frame), &error), 1);
	check_broken(&line, frame, put(NULL, ALIVE, frame), -EBADMSG);
	check_broken(&line, frame, put(NULL, refused, frame), -EBADMSG);
	assert_int_equal(take(&line, frame, put(&line, ALIVE, frame), &error), 1);
}

static void test_sealed_before_there_is_a_key(void **unused)
{
	struct line line = line_open();
	struct error error = {0};
	uint8_t frame[128];

	seal_end(&line.reader.seal);
	check_broken(&line, frame, put(&line, HELLO, frame), -EPROTO);
	assert_int_equal(take(&line, frame, put(NULL, HELLO, frame), &error), 1);
}

/* Frames with only a seal, and with lengths that are shorter than a seal. */
static void test_too_short(void **unused)
{
	for (uint8_t length = 0; length <= SEAL_SIZE; length++) {
		const uint8_t frame[4 + SEAL_SIZE] = {0x80, 0, 0, length};
		struct line line = line_open();

		check_broken(&line, frame, sizeof(frame), -EPROTO);
	}
}

static void test_longest_message(void **unused)
{
	struct line line = line_open();
	struct error error = {0};
	char *text = malloc(FRAME_MAX + 1);
	uint8_t *frame = malloc(FRAME_MAX + 64);

	assert_non_null(text);
	assert_non_null(frame);
	memset(text, ' ', FRAME_MAX);
	memcpy(text, "{}", 2);
	text[FRAME_MAX] = '\0';
	assert_int_equal(take(&line, frame, put(&line, text, frame), &error), 1);
	free(text);
	free(frame);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_order),
		cmocka_unit_test(test_changed),
		cmocka_unit_test(test_all_of_a_seal_is_compared),
		cmocka_unit_test(test_repeated_and_dropped),
		cmocka_unit_test(test_another_key),
		cmocka_unit_test(test_unsealed),
		cmocka_unit_test(test_sealed_before_there_is_a_key),
		cmocka_unit_test(test_too_short),
		cmocka_unit_test(test_longest_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
