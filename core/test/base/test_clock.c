/* SPDX-License-Identifier: MIT */
#include <limits.h>

#include "core/base/clock.h"
#include "core/test/lib/check.h"

/*
 * mult is floor(10^9 * 2^32 / hz). Nanoseconds are computed with exact integers and rounded
 * to nearest: (ticks * mult + 2^31) div 2^32.
 */
static void test_ticks_to_nanoseconds(void **unused)
{
	static const struct {
		uint64_t mult;
		uint64_t ticks;
		uint64_t ns;
	} rows[] = {
		{4294967296,   0,             0            }, /* 1 GHz */
		{4294967296,   1,             1            },
		{4294967296,   UINT64_MAX,    UINT64_MAX   },
		{1717986918,   1,             0            }, /* 2.5 GHz */
		{1717986918,   2,             1            },
		{1717986918,   1000,          400          },
		{1717986918,   2500000000,    1000000000   },
		{1717986918,   9000000000000, 3599999999162},
		{858993459,    2500000000,    500000000    }, /* half a round trip */
		{1431655765,   1,             0            }, /* 3 GHz */
		{1431655765,   2,             1            },
		{1431655765,   1000,          333          },
		{178956970666, 1,             42           }, /* 24 MHz */
		{178956970666, 2,             83           },
		{178956970666, 1000,          41667        },
		{178956970666, 86400000000,   3599999999987},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		assert_int_equal(clock_to_ns(rows[i].ticks, rows[i].mult), rows[i].ns);
}

static void test_clocks_are_monotonic(void **unused)
{
	struct clock clock;
	uint64_t last_ns = clock_now_ns();
	uint64_t last_tick;

	clock_init(&clock);
	last_tick = clock_ticks(clock.is_counter);
	for (int i = 0; i < 10000; i++) {
		uint64_t ns = clock_now_ns();
		uint64_t tick = clock_ticks(clock.is_counter);

		assert_true(ns >= last_ns);
		assert_true(tick >= last_tick);
		last_ns = ns;
		last_tick = tick;
	}
}

static void test_calibration(void **unused)
{
	struct clock clock;

	clock_init(&clock);
	assert_true(clock.hz > 1000000 && clock.hz <= 10000000000);
	assert_int_equal(clock.mult, (uint64_t)(((unsigned __int128)NS_PER_S << 32) / clock.hz));
	if (!clock.is_counter) {
		assert_string_equal(clock.kind, "monotonic_raw");
		assert_int_equal(clock.hz, 1000000000);
		assert_near(clock_drift_ppm(&clock), 0, 0);
	} else {
		struct clock doubled = clock;

		assert_string_not_equal(clock.kind, "monotonic_raw");
		/* Half the expected speed is 500000 parts per million too slow. */
		doubled.hz *= 2;
		assert_near(clock_drift_ppm(&doubled), -500000, 50000);
	}
}

/* A short calibration agrees with the kernel's clock over a longer time. */
static void test_calibration_holds(void **unused)
{
	const struct timespec while_it_starts = {.tv_nsec = 5 * NS_PER_MS};
	const struct timespec longer = {.tv_nsec = 100 * NS_PER_MS};
	struct clock clocks[2];

	clock_init(&clocks[0]);
	clock_begin(&clocks[1]);
	nanosleep(&while_it_starts, NULL);
	clock_finish(&clocks[1]);
	nanosleep(&longer, NULL);
	for (size_t i = 0; i < ARRAY_LENGTH(clocks); i++)
		assert_near(clock_drift_ppm(&clocks[i]), 0, 500);
}

/*
 * A tick of 2.5 GHz is 0.4 ns, one of arm64's 24 MHz 41.67 ns; otherwise the kernel reports
 * it.
 */
static void test_resolution(void **unused)
{
	const struct clock fast = {.is_counter = true, .hz = 2500000000};
	const struct clock slow = {.is_counter = true, .hz = 24000000};
	const struct clock system = {.hz = 1000000000};
	struct timespec step;

	assert_near(clock_resolution_ns(&fast), 0.4, 1e-12);
	assert_near(clock_resolution_ns(&slow), 41.6666666667, 1e-9);
	assert_int_equal(clock_getres(CLOCK_MONOTONIC_RAW, &step), 0);
	assert_near(clock_resolution_ns(&system), (double)step.tv_nsec, 0);
}

/* The cost is measured with a thousand reads, which take at least that long. */
static void test_cost(void **unused)
{
	uint64_t before = clock_now_ns();
	struct clock clock;

	clock_init(&clock);
	assert_true(clock.cost_ns > 0);
	assert_true(clock.cost_ns * 1000 < clock_now_ns() - before);
}

/* Two readings of the kernel's clock bracket ours. */
static void test_rate_agrees_with_the_kernel(void **unused)
{
	struct clock clock;
	uint64_t before;
	uint64_t inner_start;
	uint64_t inner_end;
	uint64_t after;
	uint64_t start;
	uint64_t elapsed;

	clock_init(&clock);
	before = clock_now_ns();
	start = clock_ticks(clock.is_counter);
	inner_start = clock_now_ns();
	do
		inner_end = clock_now_ns();
	while (inner_end - inner_start < 20 * NS_PER_MS);
	elapsed = clock_to_ns(clock_ticks(clock.is_counter) - start, clock.mult);
	after = clock_now_ns();
	assert_true(elapsed >= (inner_end - inner_start) / 100 * 98);
	assert_true(elapsed <= (after - before) / 100 * 102);
}

static void test_deadlines(void **unused)
{
	static const unsigned int timeouts_ms[] = {0, 1, 5000, UINT_MAX};

	for (size_t i = 0; i < ARRAY_LENGTH(timeouts_ms); i++) {
		uint64_t before = clock_now_ns();
		uint64_t deadline = clock_deadline(timeouts_ms[i]);
		uint64_t after = clock_now_ns();

		assert_true(deadline >= before + (uint64_t)timeouts_ms[i] * 1000000);
		assert_true(deadline <= after + (uint64_t)timeouts_ms[i] * 1000000);
	}
}

static uint64_t whole_ms(uint64_t ns)
{
	return ns / 1000000 + (ns % 1000000 != 0);
}

/* A poll(2) of 0 ms before the deadline would turn into a busy loop. */
static void test_time_left_is_rounded_up(void **unused)
{
	static const uint64_t aheads[] = {1000000, 1000001, 999999999, 5000000000, 5000000001};

	for (size_t i = 0; i < ARRAY_LENGTH(aheads); i++) {
		uint64_t before = clock_now_ns();
		uint64_t deadline = before + aheads[i];
		uint64_t left = (uint64_t)clock_left_ms(deadline);
		uint64_t after = clock_now_ns();

		assert_true(left <= whole_ms(deadline - before));
		assert_true(left >= (after < deadline ? whole_ms(deadline - after) : 0));
	}
	assert_int_equal(clock_left_ms(0), 0);
	assert_int_equal(clock_left_ms(clock_now_ns()), 0);
	assert_int_equal(clock_left_ms(UINT64_MAX), INT_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ticks_to_nanoseconds),
		cmocka_unit_test(test_clocks_are_monotonic),
		cmocka_unit_test(test_calibration),
		cmocka_unit_test(test_calibration_holds),
		cmocka_unit_test(test_resolution),
		cmocka_unit_test(test_cost),
		cmocka_unit_test(test_rate_agrees_with_the_kernel),
		cmocka_unit_test(test_deadlines),
		cmocka_unit_test(test_time_left_is_rounded_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
