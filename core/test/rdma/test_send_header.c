/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "core/rdma/send_header.h"
#include "core/test/lib/check.h"

/* Written by hand: magic VBMS, kind, length, offset. */
static const uint8_t data_head[24] = {'V', 'B', 'M',  'S',  0, 0, 0, 1, 0, 0, 0, 0,
				      0,   0,   0x12, 0x34, 0, 0, 0, 0, 0, 0, 0, 0};
static const uint8_t written_head[24] = {'V',  'B',  'M',  'S',  0,    0,    0,    2,
					 0,    0,    0,    0x01, 0,    0,    0,    0,
					 0x80, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01};
static const uint8_t read_head[24] = {'V', 'B', 'M', 'S', 0, 0, 0, 3, 0, 0, 0, 0,
				      0,   0,   0,   0,   0, 0, 0, 0, 0, 0, 0, 0xff};

static const struct row {
	const uint8_t *head;
	struct rdma_message message;
	uint32_t bytes;
} rows[] = {
	{data_head,    {RDMA_MESSAGE_DATA, 0x1234, 0},                          24 + 0x1234},
	{written_head, {RDMA_MESSAGE_WRITTEN, 0x100000000, 0x8007060504030201}, 24         },
	{read_head,    {RDMA_MESSAGE_READ, 0, 255},                             24         },
};

static void test_headers_on_the_wire(void **unused)
{
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		uint8_t head[SEND_HEADER_SIZE];

		send_header_encode(head, &rows[i].message);
		assert_memory_equal(head, rows[i].head, sizeof(head));
	}
}

static void test_headers_are_decoded(void **unused)
{
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct rdma_message message = {0};
		struct error error = {0};

		assert_int_equal(send_header_decode(&message, rows[i].head, rows[i].bytes, &error),
				 0);
		assert_int_equal(message.kind, rows[i].message.kind);
		assert_int_equal(message.length, rows[i].message.length);
		assert_int_equal(message.offset, rows[i].message.offset);
	}
}

/* The completion's byte count differs from the header's length. */
static void test_rejects_wrong_byte_counts(void **unused)
{
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		const uint32_t wrong[] = {0,         1, 23, rows[i].bytes - 1, rows[i].bytes + 1,
					  UINT32_MAX};

		for (size_t j = 0; j < ARRAY_LENGTH(wrong); j++) {
			struct rdma_message message;
			struct error error = {0};

			assert_int_equal(
				send_header_decode(&message, rows[i].head, wrong[j], &error),
				-EPROTO);
			assert_contains(error.text, "message of");
		}
	}
}

static void test_corrupt_headers(void **unused)
{
	static const struct {
		size_t at;
		uint8_t value;
	} spoils[] = {
		{0, 'v'},
                {3, 'K'},
                {7, 0  }, /* kind */
		{7, 4  },
                {4, 1  },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(spoils); i++) {
		uint8_t head[SEND_HEADER_SIZE];
		struct rdma_message message;
		struct error error = {0};

		memcpy(head, data_head, sizeof(head));
		head[spoils[i].at] = spoils[i].value;
		assert_int_equal(send_header_decode(&message, head, 24 + 0x1234, &error), -EPROTO);
		assert_contains(error.text, "unknown header");
	}
}

static void test_length_beyond_32_bits(void **unused)
{
	uint8_t head[SEND_HEADER_SIZE];
	struct rdma_message message;
	struct error error = {0};

	/* The lower half matches the number of bytes. */
	memcpy(head, data_head, sizeof(head));
	head[11] = 1;
	assert_int_equal(send_header_decode(&message, head, 24 + 0x1234, &error), -EPROTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_headers_on_the_wire),
		cmocka_unit_test(test_headers_are_decoded),
		cmocka_unit_test(test_rejects_wrong_byte_counts),
		cmocka_unit_test(test_corrupt_headers),
		cmocka_unit_test(test_length_beyond_32_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
