/* SPDX-License-Identifier: MIT */
#include "bench/pacing.h"
#include "core/test/check.h"

/*
 * 1000 messages that are due a thousand ticks apart, of which the last were late by so much.
 * A tick is a microsecond, and all of it a second.
 */
static bool is_saturated(uint64_t late_half, uint64_t late, uint64_t unsent)
{
	struct pacing pacing = {
		.load = {.schedule = {.ticks_per_message = 1000},
			 .late_half = late_half,
			 .late = late,
			 .unsent = unsent},
		.rate = 1000,
	};
	struct result_trial found = {.messages = 1000, .duration_ns = 1000000000};
	struct error error = {0};

	assert_int_equal(pacing_note(&pacing, &found, &error), 0);
	assert_int_equal(found.pace.unsent, unsent);
	return found.pace.is_saturated;
}

/* Of a schedule of a million ticks: whether the lateness grows, from the start to the end. */
static void test_saturated(void **unused)
{
	assert_false(is_saturated(0, 0, 0));
	assert_false(is_saturated(5000, 9000, 0));
	assert_true(is_saturated(5500, 11000, 0));
	assert_true(is_saturated(50000, 100000, 0));
	/* A stall shortly before the end, and one that was made up for. */
	assert_false(is_saturated(0, 100000, 0));
	assert_false(is_saturated(1000, 100000, 0));
	assert_false(is_saturated(100000, 0, 0));
	assert_true(is_saturated(0, 0, 1));
}

/*
 * A hundred messages in 50 ms: what is late by 9 ms may have been the machine; but not where
 * all were due within 2 ms.
 */
static void test_short(void **unused)
{
	struct pacing pacing = {
		.load = {.schedule = {.ticks_per_message = 500}, .late_half = 9000, .late = 9000},
		.rate = 2000,
	};
	struct result_trial found = {.messages = 100, .duration_ns = 50000000};
	struct error error = {0};

	assert_int_equal(pacing_note(&pacing, &found, &error), 0);
	assert_false(found.pace.is_saturated);
	pacing.load.late = 11000;
	assert_int_equal(pacing_note(&pacing, &found, &error), 0);
	assert_true(found.pace.is_saturated);
	pacing.rate = 50000;
	pacing.load.schedule.ticks_per_message = 20;
	pacing.load.late = pacing.load.late_half = 9000;
	assert_int_equal(pacing_note(&pacing, &found, &error), 0);
	assert_true(found.pace.is_saturated);
}

/* Ten messages a second: to be late by less than one is no sign of anything. */
static void test_few(void **unused)
{
	struct pacing pacing = {
		.load = {.schedule = {.ticks_per_message = 1e8},
			 .late_half = 90000000,
			 .late = 90000000},
		.rate = 10,
	};
	struct result_trial found = {.messages = 10, .duration_ns = 1000000000};
	struct error error = {0};

	assert_int_equal(pacing_note(&pacing, &found, &error), 0);
	assert_false(found.pace.is_saturated);
	pacing.load.late = 200000000;
	assert_int_equal(pacing_note(&pacing, &found, &error), 0);
	assert_true(found.pace.is_saturated);
	found.messages = 0;
	assert_int_equal(pacing_note(&pacing, &found, &error), -ERANGE);
	assert_string_equal(error.text,
			    "no message was due: 10 of them a second are too few for that time");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_saturated),
		cmocka_unit_test(test_short),
		cmocka_unit_test(test_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
