/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/pool/message.h"
#include "core/test/lib/check.h"

/* The message on the wire, byte by byte. */
static const uint8_t wire[POOL_MESSAGE] = {
	0,   0,   0,   2,                     /* type */
	0,   0,   0,   3,                     /* status */
	0,   0,   0,   0,   0, 0, 0x27, 0x10, /* size: 10000 */
	0,   1,   2,   3,   4, 5, 6,    7,    /* address */
	0xa, 0xb, 0xc, 0xd,                   /* rkey */
	0,   0,   0,   16,                    /* every */
};

static void test_wire(void **unused)
{
	const struct pool_message message = {
		.type = POOL_RESP_ALLOC,
		.status = POOL_EXHAUSTED,
		.size = 10000,
		.address = 0x0001020304050607,
		.rkey = 0x0a0b0c0d,
		.every = 16,
	};
	struct pool_message read;
	uint8_t bytes[POOL_MESSAGE];

	pool_encode(&message, bytes);
	assert_memory_equal(bytes, wire, sizeof(wire));
	assert_int_equal(pool_decode(&read, wire, sizeof(wire)), 0);
	assert_memory_equal(&read, &message, sizeof(read));
}

static void test_rejects_invalid_messages(void **unused)
{
	struct pool_message read;
	uint8_t bytes[POOL_MESSAGE + 1] = {0};

	memcpy(bytes, wire, sizeof(wire));
	for (size_t length = 0; length <= sizeof(bytes); length++)
		assert_int_equal(pool_decode(&read, bytes, length),
				 length == POOL_MESSAGE ? 0 : -EPROTO);
	for (size_t i = POOL_MESSAGE - 8; i < POOL_MESSAGE; i++) {
		bytes[i] = 1;
		assert_int_equal(pool_decode(&read, bytes, POOL_MESSAGE), -EPROTO);
		bytes[i] = 0;
	}
}

static void test_status_texts(void **unused)
{
	for (uint32_t status = 0; status < POOL_STATUSES + 2; status++)
		assert_true(strlen(pool_status_text(status)) > 5);
	assert_non_null(pool_status_text(UINT32_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wire),
		cmocka_unit_test(test_rejects_invalid_messages),
		cmocka_unit_test(test_status_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
