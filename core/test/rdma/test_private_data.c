/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "core/rdma/private_data.h"
#include "core/test/lib/check.h"

/* Written by hand: magic VBMK, version 1, length 32, address, size, rkey, reserved. */
static const uint8_t greeting[32] = {
	'V',  'B',  'M',  'K',  0,    1,    0,    32,   0x01, 0x23, 0x45,
	0x67, 0x89, 0xab, 0xcd, 0xef, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10,
	0x02, 0x03, 0xde, 0xad, 0xbe, 0xef, 0,    0,    0,    0,
};
static const struct rdma_remote greeter = {
	.address = 0x0123456789abcdef, .size = 0x100203, .rkey = 0xdeadbeef};

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void test_greeting_on_the_wire(void **unused)
{
	uint8_t data[PRIVATE_DATA_GREETING];

	assert_int_equal(private_data_greet(data, &greeter), sizeof(greeting));
	assert_memory_equal(data, greeting, sizeof(greeting));
}

static void test_greeting_is_read(void **unused)
{
	/* rdma_cm reports 56 bytes for a connect request and 196 for an accept, padded. */
	static const size_t lengths[] = {32, 56, 196};

	for (size_t i = 0; i < ARRAY_LENGTH(lengths); i++) {
		uint8_t padded[196] = {0};
		struct rdma_remote remote = {0};
		struct error error = {0};

		memcpy(padded, greeting, sizeof(greeting));
		assert_int_equal(private_data_read(&remote, padded, lengths[i], &error), 0);
		assert_int_equal(remote.address, greeter.address);
		assert_int_equal(remote.size, greeter.size);
		assert_int_equal(remote.rkey, greeter.rkey);
		assert_int_equal(error.code, 0);
	}
}

static void test_truncated_greetings(void **unused)
{
	for (size_t length = 0; length < sizeof(greeting); length++) {
		/* Allocated with that size, so that a sanitizer detects reads beyond it. */
		uint8_t *exact = test_malloc(length + 1);
		struct rdma_remote remote;
		struct error error = {0};

		memcpy(exact, greeting, length);
		assert_int_equal(private_data_read(&remote, exact, length, &error), -EPROTO);
		assert_contains(error.text, "the peer");
		test_free(exact);
	}
}

static void test_no_greeting(void **unused)
{
	struct rdma_remote remote;
	struct error error = {0};

	assert_int_equal(private_data_read(&remote, NULL, 0, &error), -EPROTO);
	assert_contains(error.text, "not verbmark");
	error.code = 0;
	assert_int_equal(private_data_read(&remote, NULL, 56, &error), -EPROTO);
}

static void test_corrupt_greetings(void **unused)
{
	static const struct {
		size_t at;
		uint8_t value;
		int code;
		const char *text;
	} rows[] = {
		{0, 'v', -EPROTO,          "not verbmark"                            },
		{3, 'N', -EPROTO,          "not verbmark"                            },
		{5, 0,   -EPROTONOSUPPORT, "connection version 0, this side uses 1"  },
		{5, 2,   -EPROTONOSUPPORT, "connection version 2, this side uses 1"  },
		{4, 1,   -EPROTONOSUPPORT, "connection version 257, this side uses 1"},
		{7, 31,  -EPROTO,          "wrong length"                            },
		{7, 33,  -EPROTO,          "wrong length"                            },
		{6, 1,   -EPROTO,          "wrong length"                            },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		uint8_t data[56] = {0};
		struct rdma_remote remote;
		struct error error = {0};

		memcpy(data, greeting, sizeof(greeting));
		data[rows[i].at] = rows[i].value;
		assert_int_equal(private_data_read(&remote, data, sizeof(data), &error),
				 rows[i].code);
		assert_contains(error.text, rows[i].text);
	}
}

/* A buffer may end at the end of the address space, but not beyond. */
static void test_buffers_that_wrap_around(void **unused)
{
	static const struct {
		struct rdma_remote remote;
		int code;
	} rows[] = {
		{{.address = 0, .size = 0},                     0      },
		{{.address = 0, .size = UINT64_MAX},            0      },
		{{.address = UINT64_MAX, .size = 0},            0      },
		{{.address = 0xfffffffffffff000, .size = 4095}, 0      },
		{{.address = 0xfffffffffffff000, .size = 4097}, -EPROTO},
		{{.address = 1, .size = UINT64_MAX},            -EPROTO},
		{{.address = 1ULL << 63, .size = UINT64_MAX},   -EPROTO},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		uint8_t data[PRIVATE_DATA_GREETING];
		struct rdma_remote remote;
		struct error error = {0};
		size_t length = private_data_greet(data, &rows[i].remote);

		assert_int_equal(private_data_read(&remote, data, length, &error), rows[i].code);
		if (rows[i].code)
			assert_contains(error.text, "wraps around");
	}
}

static void test_refusal_on_the_wire(void **unused)
{
	static const uint8_t wanted[] = {'V', 'B', 'M', 'N', 0, 1, 0, 12, 'b', 'u', 's', 'y'};
	uint8_t data[PRIVATE_DATA_REFUSAL];
	char text[PRIVATE_DATA_REFUSAL];

	assert_int_equal(private_data_refuse(data, "busy"), sizeof(wanted));
	assert_memory_equal(data, wanted, sizeof(wanted));
	assert_string_equal(private_data_reason(text, data, sizeof(data)), "busy");
	assert_string_equal(private_data_reason(text, data, sizeof(wanted)), "busy");
}

static void test_long_refusals_are_truncated(void **unused)
{
	char reason[300];
	uint8_t data[PRIVATE_DATA_REFUSAL];
	char text[PRIVATE_DATA_REFUSAL];

	for (size_t length = 0; length < sizeof(reason); length++) {
		size_t length_on_the_wire;
		size_t kept = length < 139 ? length : 139;

		memset(reason, 'r', length);
		reason[length] = '\0';
		length_on_the_wire = private_data_refuse(data, reason);
		assert_int_equal(length_on_the_wire, 8 + kept);
		reason[kept] = '\0';
		assert_string_equal(private_data_reason(text, data, length_on_the_wire), reason);
	}
}

static void test_corrupt_refusals(void **unused)
{
	static const uint8_t good[] = {'V', 'B', 'M', 'N', 0, 1, 0, 12, 'b', 'u', 's', 'y'};
	static const struct {
		size_t at;
		uint8_t value;
	} spoils[] = {
		{0, 'X'}, /* magic */
		{3, 'K'}, /* a greeting */
		{7, 0  }, /* shorter than its header */
		{7, 7  },
                {7, 13 }, /* longer than the data received */
		{6, 255},
	};
	char text[PRIVATE_DATA_REFUSAL];

	for (size_t length = 0; length < sizeof(good); length++) {
		uint8_t *exact = test_malloc(length + 1);

		memcpy(exact, good, length);
		assert_null(private_data_reason(text, exact, length));
		test_free(exact);
	}
	assert_null(private_data_reason(text, NULL, 0));
	assert_null(private_data_reason(text, NULL, 148));
	for (size_t i = 0; i < ARRAY_LENGTH(spoils); i++) {
		uint8_t data[sizeof(good)];

		memcpy(data, good, sizeof(good));
		data[spoils[i].at] = spoils[i].value;
		assert_null(private_data_reason(text, data, sizeof(data)));
	}
}

/* The text goes to a terminal: escape sequences must not pass. */
static void test_refusal_is_made_printable(void **unused)
{
	static const uint8_t data[] = {'V', 'B', 'M', 'N', 0,    1,    0,    18, 'a',
				       27,  '[', '2', 'J', '\n', 0x7f, 0xff, 0,  'z'};
	char text[PRIVATE_DATA_REFUSAL];

	assert_string_equal(private_data_reason(text, data, sizeof(data)), "a?[2J????z");
}

static void test_random_bytes(void **unused)
{
	uint64_t random = 20061123;

	for (int i = 0; i < 100000; i++) {
		uint8_t data[PRIVATE_DATA_REFUSAL];
		char text[PRIVATE_DATA_REFUSAL];
		struct rdma_remote remote;
		struct error error = {0};
		size_t length = next_random(&random) % (sizeof(data) + 1);
		const char *reason;

		for (size_t j = 0; j < sizeof(data); j++)
			data[j] = (uint8_t)next_random(&random);
		/* Half of them get past the magic. */
		if (i % 2)
			memcpy(data, greeting, 4);
		if (i % 4 == 1)
			data[3] = 'N';
		if (private_data_read(&remote, data, length, &error))
			assert_int_not_equal(error.code, 0);
		reason = private_data_reason(text, data, length);
		for (; reason && *reason; reason++)
			assert_in_range(*reason, ' ', '~');
	}
}

/* Every bit of a ticket counts, and a greeting without one is refused. */
static void test_tickets(void **unused)
{
	static const struct rdma_remote own = {.address = 4096, .size = 64, .rkey = 1};
	uint8_t data[PRIVATE_DATA_GREETING + PRIVATE_DATA_TICKET];
	uint8_t ticket[PRIVATE_DATA_TICKET];
	size_t length;

	for (size_t i = 0; i < sizeof(ticket); i++)
		ticket[i] = (uint8_t)(0x5a + i);
	private_data_greet(data, &own);
	length = private_data_add_ticket(data, ticket);
	assert_int_equal(length, sizeof(data));
	assert_int_equal(private_data_check_ticket(data, length, ticket, NULL), 0);
	for (size_t bit = 0; bit < 8 * sizeof(ticket); bit++) {
		ticket[bit / 8] ^= (uint8_t)(1U << bit % 8);
		assert_int_equal(private_data_check_ticket(data, length, ticket, NULL), -EACCES);
		ticket[bit / 8] ^= (uint8_t)(1U << bit % 8);
	}
	for (size_t i = 0; i < length; i++)
		assert_int_equal(private_data_check_ticket(data, i, ticket, NULL), -EACCES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_greeting_on_the_wire),
		cmocka_unit_test(test_greeting_is_read),
		cmocka_unit_test(test_truncated_greetings),
		cmocka_unit_test(test_no_greeting),
		cmocka_unit_test(test_corrupt_greetings),
		cmocka_unit_test(test_buffers_that_wrap_around),
		cmocka_unit_test(test_refusal_on_the_wire),
		cmocka_unit_test(test_long_refusals_are_truncated),
		cmocka_unit_test(test_corrupt_refusals),
		cmocka_unit_test(test_refusal_is_made_printable),
		cmocka_unit_test(test_random_bytes),
		cmocka_unit_test(test_tickets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
