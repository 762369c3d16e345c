/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "bench/control/frame.h"
#include "core/base/compiler.h"
#include "core/test/lib/check.h"

/* A frame written by hand: 18 bytes of JSON after their length. */
#define FRAME        "\0\0\0\x12{\"type\":\"example\"}"
#define FRAME_LENGTH (sizeof(FRAME) - 1)

/* Reads from a copy of exactly that size, so that a sanitizer detects reads beyond it. */
static int read_exactly(struct frame_reader *reader, const void *bytes, size_t length, size_t *used,
			json_t **message, struct error *error)
{
	uint8_t *exact = test_malloc(length + 1);
	int code;

	memcpy(exact + 1, bytes, length);
	*message = NULL;
	code = frame_read(reader, exact + 1, length, used, message, error);
	test_free(exact);
	return code;
}

static void check_example(json_t *message)
{
	assert_non_null(message);
	assert_string_equal(json_string_value(json_object_get(message, "type")), "example");
	assert_int_equal(json_object_size(message), 1);
	json_decref(message);
}

static void test_whole_frame(void **unused)
{
	struct frame_reader reader = {0};
	struct error error = {0};
	json_t *message;
	size_t used;

	assert_int_equal(read_exactly(&reader, FRAME, FRAME_LENGTH, &used, &message, &error), 1);
	assert_int_equal(used, FRAME_LENGTH);
	check_example(message);
	frame_finish(&reader);
}

static void test_every_split(void **unused)
{
	for (size_t split = 0; split < FRAME_LENGTH; split++) {
		struct frame_reader reader = {0};
		struct error error = {0};
		json_t *message;
		size_t used;

		assert_int_equal(read_exactly(&reader, FRAME, split, &used, &message, &error), 0);
		assert_int_equal(used, split);
		assert_null(message);
		assert_int_equal(read_exactly(&reader, &FRAME[split], FRAME_LENGTH - split, &used,
					      &message, &error),
				 1);
		assert_int_equal(used, FRAME_LENGTH - split);
		check_example(message);
		frame_finish(&reader);
	}
}

static void test_byte_by_byte(void **unused)
{
	struct frame_reader reader = {0};
	struct error error = {0};
	json_t *message;
	size_t used;

	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i + 1 < FRAME_LENGTH; i++) {
			assert_int_equal(
				read_exactly(&reader, &FRAME[i], 1, &used, &message, &error), 0);
			assert_int_equal(used, 1);
		}
		assert_int_equal(
			read_exactly(&reader, &FRAME[FRAME_LENGTH - 1], 1, &used, &message, &error),
			1);
		check_example(message);
	}
	frame_finish(&reader);
}

/* Bytes after a frame are left for the next call. */
static void test_several_in_one_read(void **unused)
{
	static const char bytes[] = FRAME FRAME "\0\0\0\2{}" FRAME "\0\0";
	size_t at = 0;
	struct frame_reader reader = {0};
	struct error error = {0};
	json_t *message;
	size_t used;

	for (int i = 0; i < 4; i++) {
		assert_int_equal(read_exactly(&reader, bytes + at, sizeof(bytes) - 1 - at, &used,
					      &message, &error),
				 1);
		at += used;
		if (i == 2) {
			assert_int_equal(used, 6);
			assert_int_equal(json_object_size(message), 0);
			json_decref(message);
		} else {
			assert_int_equal(used, FRAME_LENGTH);
			check_example(message);
		}
	}
	assert_int_equal(
		read_exactly(&reader, bytes + at, sizeof(bytes) - 1 - at, &used, &message, &error),
		0);
	assert_int_equal(used, 2);
	frame_finish(&reader);
}

static void test_invalid_lengths(void **unused)
{
	static const struct {
		const char *head;
		const char *text;
	} rows[] = {
		{"\0\0\0\0",         "control message of 0 bytes: the peer is not verbmark"         },
		{"\0\x10\0\1",       "control message of 1048577 bytes: the peer is not verbmark"   },
		{"\xff\xff\xff\xff",
		 "control message of 2147483647 bytes: the peer is not verbmark"                    },
 /* A sealed frame, whose length has the top bit set. */
		{"\x80\x20\0\0",     "control message of 2097152 bytes: the peer is not verbmark"   },
		{"HTTP",             "control message of 1213486160 bytes: the peer is not verbmark"},
		{"SSH-",             "the peer is not verbmark"                                     },
		{"\x16\3\1\2",       "the peer is not verbmark"                                     },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct frame_reader reader = {0};
		struct error error = {0};
		json_t *message;
		size_t used;

		assert_int_equal(read_exactly(&reader, rows[i].head, 4, &used, &message, &error),
				 -EPROTO);
		assert_contains(error.text, rows[i].text);
		assert_null(message);
		frame_finish(&reader);
	}
}

static int read_text(const void *text, size_t length, json_t **message, struct error *error)
{
	struct frame_reader reader = {0};
	uint8_t *frame = test_malloc(4 + length);
	size_t used;
	int code;

	frame[0] = 0;
	frame[1] = (uint8_t)(length >> 16);
	frame[2] = (uint8_t)(length >> 8);
	frame[3] = (uint8_t)length;
	memcpy(frame + 4, text, length);
	*error = (struct error){0};
	*message = NULL;
	code = frame_read(&reader, frame, 4 + length, &used, message, error);
	assert_int_equal(used, 4 + length);
	frame_finish(&reader);
	test_free(frame);
	return code;
}

/* The longest message has a text of 2^20 - 8 bytes in an object. */
static void test_longest_message(void **unused)
{
	static const char head[6] = "{\"a\":\"";
	uint8_t *text = test_malloc(1 << 20);
	struct error error;
	json_t *message;

	memset(text, 'x', 1 << 20);
	memcpy(text, head, sizeof(head));
	text[(1 << 20) - 2] = '"';
	text[(1 << 20) - 1] = '}';
	assert_int_equal(read_text(text, 1 << 20, &message, &error), 1);
	assert_int_equal(json_string_length(json_object_get(message, "a")), (1 << 20) - 8);
	json_decref(message);
	test_free(text);
}

static void test_invalid_objects(void **unused)
{
	static const char *const texts[] = {
		"[]",
		"[{}]",
		"\"hello\"",
		"17",
		"true",
		"null",
		"{",
		"}",
		"{}x",
		"{} {}",
		"{'a':1}",
		"{\"a\":}",
		"{\"a\":1,}",
		"{\"a\":1,\"a\":2}",
		"{\"a\":\"\xff\"}",
		"GET / HTTP/1.1",
		"{\"a\":1e999}",
		"{\"a\":99999999999999999999}",
		" ",
		"{\"a\":\"\\ud800\"}",
		"{\"a\":\"\\u0000\"}",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		struct error error;
		json_t *message;

		assert_int_equal(read_text(texts[i], strlen(texts[i]), &message, &error), -EPROTO);
		assert_contains(error.text, "control message is not ");
		assert_null(message);
	}
}

static void test_nul_bytes(void **unused)
{
	static const char *const texts[] = {"{}\0", "{\"a\":\"\0\"}", "{\"\0\":1}", "\0{}"};
	static const size_t lengths[] = {3, 9, 7, 3};

	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		struct error error;
		json_t *message;

		assert_int_equal(read_text(texts[i], lengths[i], &message, &error), -EPROTO);
		assert_null(message);
	}
}

/* Neither parsing nor freeing deep nesting may exhaust the stack. */
static void test_deep(void **unused)
{
	static const char member[5] = "{\"a\":";
	static const size_t depths[] = {100, 2000, 2049, 5000, 100000, (1 << 20) / 6};

	for (size_t i = 0; i < ARRAY_LENGTH(depths); i++) {
		size_t length = 6 * depths[i];
		uint8_t *text = test_malloc(length);
		struct error error;
		json_t *message;
		int code;

		for (size_t j = 0; j < depths[i]; j++) {
			memcpy(text + 5 * j, member, sizeof(member));
			text[length - 1 - j] = '}';
		}
		/* The innermost object is empty. */
		memset(text + 5 * (depths[i] - 1) + 1, ' ', 4);
		code = read_text(text, length, &message, &error);
		if (depths[i] <= 2000) {
			assert_int_equal(code, 1);
			json_decref(message);
		} else {
			assert_int_equal(code, -EPROTO);
			assert_contains(error.text, depths[i] <= 65536 ? "depth" : "members");
		}
		test_free(text);
	}
}

/* Returns {"a":[{},{}]} with count objects: each needs a bracket and a comma. */
static char *make_members(size_t count, size_t *length)
{
	char *text = test_malloc(6 + 3 * count + 1);

	memcpy(text, "{\"a\":[", 6);
	for (size_t i = 0; i < count; i++)
		memcpy(text + 6 + 3 * i, "{},", 3);
	/* No comma follows the last object. */
	*length = 6 + 3 * count + 1;
	memcpy(text + *length - 2, "]}", 2);
	return text;
}

/* Such frames have a valid length, but would need 70 times as much memory. */
static void test_many_members(void **unused)
{
	static const struct {
		size_t count;
		int code;
		const char *text;
	} rows[] = {
		{32767,  1,       ""							   },
		{32768,  -EPROTO, "control message of 65537 members: the peer is not verbmark" },
		{349520, -EPROTO, "control message of 699041 members: the peer is not verbmark"},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		size_t length;
		char *text = make_members(rows[i].count, &length);
		struct error error;
		json_t *message;

		assert_int_equal(read_text(text, length, &message, &error), rows[i].code);
		assert_string_equal(error.text, rows[i].text);
		assert_int_equal(json_array_size(json_object_get(message, "a")),
				 rows[i].code == 1 ? rows[i].count : 0);
		json_decref(message);
		test_free(text);
	}
}

/* Heartbeats may arrive at any time and their contents are ignored, so they must be short. */
static void test_heartbeats(void **unused)
{
	static const char longest[] =
		"{\"type\":\"alive\",\"x\":\"01234567890123456789012345678901234567890\"}";
	static const char longer[] =
		"{\"type\":\"alive\",\"x\":\"012345678901234567890123456789012345678901\"}";
	struct error error;
	json_t *message;

	assert_int_equal(read_text(longest, 64, &message, &error), 1);
	json_decref(message);
	assert_int_equal(read_text(longer, 65, &message, &error), -EPROTO);
	assert_string_equal(error.text, "heartbeat of 65 bytes: the peer is not verbmark");
	assert_null(message);
}

/* Errors may quote the peer's bytes, and end up on a terminal. */
static void test_errors_are_printable(void **unused)
{
	static const char *const texts[] = {"\033[2J\033]0;x\007", "{\"a\":\033[31m}",
					    "\302\23331m", "{\"\n\":", "\r\r\r"};

	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		struct error error;
		json_t *message;

		assert_int_equal(read_text(texts[i], strlen(texts[i]), &message, &error), -EPROTO);
		for (const char *at = error.text; *at; at++)
			assert_true(*at >= ' ' && *at <= '~');
	}
}

static void test_encoding(void **unused)
{
	json_t *message = json_pack("{s:s}", "type", "example");
	size_t length = 0;
	uint8_t *frame = frame_encode(message, &length);

	assert_non_null(frame);
	assert_int_equal(length, FRAME_LENGTH);
	assert_memory_equal(frame, FRAME, FRAME_LENGTH);
	free(frame);
	json_decref(message);
}

static void test_encoding_limits_length(void **unused)
{
	/* {"a":""} surrounds the text. */
	static const size_t lengths[] = {(1 << 20) - 8, (1 << 20) - 7};

	for (size_t i = 0; i < ARRAY_LENGTH(lengths); i++) {
		char *text = test_malloc(lengths[i]);
		size_t length = 0;
		json_t *message;
		uint8_t *frame;

		memset(text, 'x', lengths[i]);
		message = json_pack("{s:s%}", "a", text, lengths[i]);
		frame = frame_encode(message, &length);
		if (i) {
			assert_null(frame);
		} else {
			assert_non_null(frame);
			assert_int_equal(length, 4 + (1 << 20));
		}
		free(frame);
		json_decref(message);
		test_free(text);
	}
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Makes a valid stream with a few bytes changed, or noise; the length is random. */
static size_t make_input(uint64_t *random, uint8_t *bytes, size_t room)
{
	static const char good[] =
		FRAME "\0\0\0\x25{\"type\":\"case\",\"list\":[1,2.5,{\"b\":null}]}";
	size_t length = next_random(random) % room;
	size_t changes = next_random(random) % 4;

	if (next_random(random) % 4 == 0) {
		for (size_t i = 0; i < length; i++)
			bytes[i] = (uint8_t)next_random(random);
		/* A valid length, so that the noise reaches the parser. */
		memset(bytes, 0, 3);
		return length;
	}
	for (size_t i = 0; i < length; i++)
		bytes[i] = (uint8_t)good[i % (sizeof(good) - 1)];
	for (size_t i = 0; length && i < changes; i++)
		bytes[next_random(random) % length] = (uint8_t)next_random(random);
	return length;
}

/* Any bytes in any pieces cause progress, an error, or an object. */
static void test_fuzz(void **unused)
{
	uint64_t random = 0x9e3779b97f4a7c15ULL;
	size_t n_messages = 0;
	size_t n_errors = 0;

	for (int round = 0; round < 200000; round++) {
		struct frame_reader reader = {0};
		struct error error = {0};
		uint8_t bytes[200];
		size_t length = make_input(&random, bytes, sizeof(bytes));
		int code = 0;

		for (size_t at = 0; at < length && code >= 0;) {
			size_t part = 1 + next_random(&random) % (length - at);
			json_t *message = NULL;
			size_t used = 0;

			code = frame_read(&reader, bytes + at, part, &used, &message, &error);
			assert_true(used > 0 && used <= part);
			assert_true(code == 1 ? json_is_object(message) : !message);
			assert_int_equal(code < 0, error.code < 0);
			json_decref(message);
			n_messages += code == 1;
			n_errors += code < 0;
			at += used;
		}
		frame_finish(&reader);
	}
	/* Make sure that the inputs cause both. */
	assert_true(n_messages > 10000 && n_errors > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_frame),
		cmocka_unit_test(test_every_split),
		cmocka_unit_test(test_byte_by_byte),
		cmocka_unit_test(test_several_in_one_read),
		cmocka_unit_test(test_invalid_lengths),
		cmocka_unit_test(test_longest_message),
		cmocka_unit_test(test_invalid_objects),
		cmocka_unit_test(test_nul_bytes),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_many_members),
		cmocka_unit_test(test_heartbeats),
		cmocka_unit_test(test_errors_are_printable),
		cmocka_unit_test(test_encoding),
		cmocka_unit_test(test_encoding_limits_length),
		cmocka_unit_test(test_fuzz),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
