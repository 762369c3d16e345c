/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bench/lane/verify.h"
#include "core/base/compiler.h"
#include "core/test/lib/check.h"
#include "core/test/lib/hidden.h"

#define LENGTH 61

/* A sender, a receiver, and the payload between them. */
struct ends {
	struct verify from;
	struct verify to;
	uint8_t bytes[LENGTH];
	struct memory memory;
};

/* Whether the CPU cannot reach the payload. */
static bool is_hidden;

static int hide(void **unused)
{
	is_hidden = true;
	return 0;
}

static int show(void **unused)
{
	is_hidden = false;
	return 0;
}

static void begin(struct ends *ends, uint64_t every)
{
	verify_init(&ends->from, every, "send/bw/61/poll", false, 3);
	verify_init(&ends->to, every, "send/bw/61/poll", true, 3);
	ends->from.length = ends->to.length = LENGTH;
	ends->memory = is_hidden ? (struct memory){.kind = &memory_hidden,
						   .address = (uintptr_t)ends->bytes}
				 : (struct memory){.cpu = (char *)ends->bytes};
	ends->from.memory = ends->to.memory = &ends->memory;
}

static void send_number(struct ends *ends, uint64_t number)
{
	ends->from.sequence = number;
	verify_fill(&ends->from);
}

/* Verifies as the receiver. */
static int check(struct ends *ends, struct error *error)
{
	*error = (struct error){0};
	return verify_check(&ends->to, error);
}

static void test_accepts_correct_payload(void **unused)
{
	struct ends ends;
	struct error error;

	begin(&ends, 1);
	for (uint64_t i = 0; i < 1000; i++) {
		send_number(&ends, i);
		assert_int_equal(check(&ends, &error), 0);
		verify_next(&ends.to);
	}
}

/* Computed independently. The byte order is the same on all machines. */
static void test_pattern_bytes(void **unused)
{
	static const uint8_t first[] = {0x1b, 0x92, 0x7f, 0x9c, 0x18, 0x62, 0xfd, 0x78};
	static const uint8_t last[] = {0x16, 0x8d, 0x4d, 0x99, 0x49};
	struct ends ends;

	begin(&ends, 1);
	send_number(&ends, 0);
	assert_memory_equal(ends.bytes, first, sizeof(first));
	send_number(&ends, 0x123);
	assert_memory_equal(ends.bytes + 56, last, sizeof(last));
	ends.to.length = LENGTH;
	verify_find(&ends.to);
	assert_int_equal(ends.to.sequence, 0x123);
}

/* The error names the position, the found and the expected byte. */
static void test_reports_wrong_byte(void **unused)
{
	struct ends ends;
	struct error error;

	begin(&ends, 1);
	ends.to.sequence = 7;
	for (size_t i = 0; i < LENGTH; i++) {
		char wanted[96];

		send_number(&ends, 7);
		snprintf(wanted, sizeof(wanted), "byte %zu of message 7 is 0x%02x, expected 0x%02x",
			 i, ends.bytes[i] ^ 0x10, ends.bytes[i]);
		ends.bytes[i] ^= 0x10;
		assert_int_equal(check(&ends, &error), -EBADMSG);
		assert_string_equal(error.text, wanted);
	}
}

/* Every message, sender, queue pair and case has its own pattern. */
static void test_pattern_identifies_message(void **unused)
{
	static const struct {
		const char *id;
		bool is_server;
		unsigned int flow;
		int code;
	} rows[] = {
		{"send/bw/61/poll",  false, 3, 0       },
		{"send/bw/61/poll",  true,  3, -EBADMSG},
		{"send/bw/61/poll",  false, 2, -EBADMSG},
		{"send/bw/61/event", false, 3, -EBADMSG},
	};
	struct ends ends;
	struct error error;

	begin(&ends, 1);
	send_number(&ends, 1);
	assert_int_equal(check(&ends, &error), -EBADMSG);
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		begin(&ends, 1);
		verify_init(&ends.from, 1, rows[i].id, rows[i].is_server, rows[i].flow);
		ends.from.length = LENGTH;
		ends.from.memory = &ends.memory;
		send_number(&ends, 0);
		assert_int_equal(check(&ends, &error), rows[i].code);
	}
}

static void test_finds_number_after_loss(void **unused)
{
	static const uint64_t numbers[] = {0, 1, 5, 4, 1000000, 4000000000};
	struct ends ends;
	struct error error;

	begin(&ends, 1);
	for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++) {
		send_number(&ends, numbers[i]);
		verify_find(&ends.to);
		assert_int_equal(ends.to.sequence, numbers[i]);
		assert_true(verify_is_due(&ends.to));
		assert_int_equal(check(&ends, &error), 0);
		verify_next(&ends.to);
	}
}

/* The message number is found from the correct bytes. */
static void test_reports_wrong_byte_after_loss(void **unused)
{
	struct ends ends;
	struct error error;

	for (size_t i = 0; i < LENGTH; i++) {
		char wanted[32];

		begin(&ends, 1);
		ends.to.sequence = 3;
		send_number(&ends, 12);
		ends.bytes[i] ^= 0xff;
		verify_find(&ends.to);
		assert_int_equal(check(&ends, &error), -EBADMSG);
		snprintf(wanted, sizeof(wanted), "byte %zu of message 12 is", i);
		assert_ptr_equal(strstr(error.text, wanted), error.text);
	}
}

static void test_implausible_number_is_the_next(void **unused)
{
	struct ends ends;
	struct error error;

	begin(&ends, 10);
	ends.to.sequence = 3;
	ends.to.until = 8;
	memset(ends.bytes, 0, sizeof(ends.bytes));
	verify_find(&ends.to);
	assert_true(verify_is_due(&ends.to));
	assert_int_equal(check(&ends, &error), -EBADMSG);
	assert_ptr_equal(strstr(error.text, "byte 0 of message 3 is 0x00"), error.text);
}

/*
 * One message in ten has the full pattern, the others only their first eight bytes. Both sides
 * agree on which.
 */
static void test_one_in_ten(void **unused)
{
	struct ends ends;

	begin(&ends, 10);
	for (uint64_t i = 0; i < 100; i++) {
		assert_int_equal(verify_is_due(&ends.from), i % 10 == 0);
		if (verify_is_due(&ends.from))
			verify_fill(&ends.from);
		else
			verify_name(&ends.from);
		verify_next(&ends.from);
		/* Two of three messages are lost. */
		if (i % 3)
			continue;
		verify_find(&ends.to);
		assert_int_equal(ends.to.sequence, i);
		assert_int_equal(verify_is_due(&ends.to), i % 10 == 0);
		verify_next(&ends.to);
	}
}

/* Longer than one part of generation and comparison. */
static void test_long_message(void **unused)
{
	static const size_t wrong[] = {0, 511, 512, 1299};
	static uint8_t bytes[1300];
	struct memory memory = {.cpu = (char *)bytes};
	struct ends ends;
	struct error error;

	begin(&ends, 1);
	send_number(&ends, 7);
	ends.from.memory = ends.to.memory = &memory;
	ends.from.length = ends.to.length = sizeof(bytes);
	ends.to.sequence = 7;
	for (size_t i = 0; i < ARRAY_LENGTH(wrong); i++) {
		char wanted[48];

		send_number(&ends, 7);
		assert_memory_equal(bytes, ends.bytes, LENGTH);
		assert_int_equal(check(&ends, &error), 0);
		bytes[wrong[i]] ^= 0x10;
		assert_int_equal(check(&ends, &error), -EBADMSG);
		snprintf(wanted, sizeof(wanted), "byte %zu of message 7 is 0x%02x", wrong[i],
			 bytes[wrong[i]]);
		assert_ptr_equal(strstr(error.text, wanted), error.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accepts_correct_payload),
		cmocka_unit_test(test_pattern_bytes),
		cmocka_unit_test(test_reports_wrong_byte),
		cmocka_unit_test(test_pattern_identifies_message),
		cmocka_unit_test(test_finds_number_after_loss),
		cmocka_unit_test(test_reports_wrong_byte_after_loss),
		cmocka_unit_test(test_implausible_number_is_the_next),
		cmocka_unit_test(test_one_in_ten),
		cmocka_unit_test(test_long_message),
		/* The same with payload that the CPU cannot access. */
		cmocka_unit_test_setup_teardown(test_accepts_correct_payload, hide, show),
		cmocka_unit_test_setup_teardown(test_pattern_bytes, hide, show),
		cmocka_unit_test_setup_teardown(test_reports_wrong_byte, hide, show),
		cmocka_unit_test_setup_teardown(test_pattern_identifies_message, hide, show),
		cmocka_unit_test_setup_teardown(test_finds_number_after_loss, hide, show),
		cmocka_unit_test_setup_teardown(test_reports_wrong_byte_after_loss, hide, show),
		cmocka_unit_test_setup_teardown(test_implausible_number_is_the_next, hide, show),
		cmocka_unit_test_setup_teardown(test_one_in_ten, hide, show),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
