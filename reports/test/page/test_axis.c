/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "core/base/compiler.h"
#include "core/test/lib/check.h"
#include "reports/page/axis.h"

/* Makes an axis from 0 to 100 pixels. */
static struct axis make(enum axis_scale scale, double unit, double least, double most)
{
	struct axis axis;

	axis_open(&axis, scale);
	axis.unit = unit;
	axis_include(&axis, most);
	axis_include(&axis, least);
	axis.from = 0;
	axis.to = 100;
	axis_fit(&axis);
	return axis;
}

/* labels: of all ticks, each followed by a space. */
static void assert_ticks(const struct axis *axis, const char *labels)
{
	struct axis_tick ticks[AXIS_TICKS];
	size_t count = axis_ticks(axis, ticks);
	char text[512] = "";

	for (size_t i = 0; i < count; i++) {
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s ", ticks[i].label);
		assert_true(i == 0 || ticks[i].value > ticks[i - 1].value);
		assert_true(axis_at(axis, ticks[i].value) >= 0);
		assert_true(axis_at(axis, ticks[i].value) <= 100);
	}
	assert_string_equal(text, labels);
}

static void test_linear(void **unused)
{
	struct axis axis = make(AXIS_LINEAR, 1, 3, 42);

	assert_near(axis.least, 0, 1e-6);
	assert_near(axis.most, 50, 1e-6);
	assert_near(axis_at(&axis, 25), 50, 1e-6);
	assert_ticks(&axis, "0 10 20 30 40 50 ");
	axis = make(AXIS_LINEAR, 1000, 0, 3.2e7);
	assert_ticks(&axis, "0 10k 20k 30k 40k ");
	/* All values are zero. */
	axis = make(AXIS_LINEAR, 5, 0, 0);
	assert_near(axis_at(&axis, 0), 0, 1e-6);
	assert_near(axis.most, 5, 1e-6);
}

/* Ticks fit the axis after its ends are rounded. */
static void test_range(void **unused)
{
	struct axis axis = make(AXIS_RANGE, 1, 0.93, 1.52);

	assert_ticks(&axis, "0.8 1 1.2 1.4 1.6 ");
	assert_near(axis.most, 1.6, 1e-9);
	axis = make(AXIS_RANGE, 1, 35, 150);
	assert_ticks(&axis, "0 50 100 150 200 ");
	axis = make(AXIS_RANGE, 1, 1234, 1236);
	assert_ticks(&axis, "1234 1234.5 1235 1235.5 1236 ");
}

/* Ticks of counts are whole numbers. */
static void test_counted(void **unused)
{
	struct axis axis;

	axis_open(&axis, AXIS_RANGE);
	axis.is_counted = true;
	axis_include(&axis, 1);
	axis_include(&axis, 3);
	axis.from = 0;
	axis.to = 100;
	axis_fit(&axis);
	assert_ticks(&axis, "1 2 3 ");
}

static void test_log(void **unused)
{
	struct axis axis = make(AXIS_LOG, 1000, 1230, 140000);

	assert_near(axis.least, 1000, 1e-6);
	assert_near(axis.most, 200000, 1e-6);
	assert_near(axis_at(&axis, 1000), 0, 1e-6);
	assert_near(axis_at(&axis, 200000), 100, 1e-6);
	assert_near(axis_at(&axis, sqrt(1000 * 200000.)), 50, 1e-6);
	assert_ticks(&axis, "1 10 100 ");
	axis = make(AXIS_LOG, 1000, 2100, 49000);
	assert_ticks(&axis, "2 5 10 20 50 ");
	axis = make(AXIS_LOG, 1000, 1200, 1300);
	assert_ticks(&axis, "1 1.2 1.5 2 ");
	axis = make(AXIS_LOG, 1, 1e-3, 1e9);
	assert_ticks(&axis, "0.001 0.1 10 1000 100k 10M 1G ");
	axis = make(AXIS_LOG, 1, 10, 10);
	assert_true(axis.most > axis.least);
}

/* CPU times may be zero: they are drawn at the start, and do not extend the axis. */
static void test_log_of_zero(void **unused)
{
	struct axis axis = make(AXIS_LOG, 1, 0, 40);

	assert_near(axis.least, 20, 1e-6);
	assert_near(axis_at(&axis, 0), 0, 1e-6);
	axis = make(AXIS_LOG, 1, 0, 0);
	assert_near(axis_at(&axis, 0), 0, 1e-6);
	assert_true(axis.most > axis.least);
}

/* Values below the floor do not extend the axis either. */
static void test_floor(void **unused)
{
	struct axis axis;

	axis_open(&axis, AXIS_LOG);
	axis.floor = 1;
	axis_include(&axis, 0.001);
	axis_include(&axis, 30);
	axis_include(&axis, 40);
	axis_fit(&axis);
	assert_near(axis.least, 20, 1e-6);
	assert_near(axis_at(&axis, 0.001), axis_at(&axis, 20), 1e-6);
}

static void test_sizes(void **unused)
{
	struct axis axis = make(AXIS_SIZES, 1, 1, 8 << 20);

	assert_ticks(&axis, "1 16 256 4k 64k 1M ");
	assert_near(axis_at(&axis, 1 << 23), 100, 1e-6);
	axis = make(AXIS_SIZES, 1, 64, 256);
	assert_ticks(&axis, "64 128 256 ");
	axis = make(AXIS_SIZES, 1, 64, 64);
	assert_near(axis_at(&axis, 64), 50, 1e-6);
	axis = make(AXIS_SIZES, 1, 1500, 2000);
	assert_ticks(&axis, "1500 2000 ");
}

static void test_nines(void **unused)
{
	struct axis axis = make(AXIS_NINES, 1, 0.1, 0.9995);

	assert_near(axis_at(&axis, 0.99), 50, 1e-6);
	assert_near(axis_at(&axis, 0.999), 75, 1e-6);
	assert_ticks(&axis, "50% 90% 99% 99.9% 99.99% ");
	axis = make(AXIS_NINES, 1, 0.5, 0.999);
	assert_near(axis_at(&axis, 0.999), 100, 1e-6);
	assert_near(axis_at(&axis, 0.9), 100 / 3., 1e-6);
}

/* Linear for values that are close together, otherwise logarithmic. */
static void test_ratio(void **unused)
{
	struct axis axis = make(AXIS_RATIO, 1, 0.97, 1.05);

	assert_ticks(&axis, "0.96 0.98 1 1.02 1.04 1.06 ");
	assert_near(axis_at(&axis, 1.01), 50, 1e-6);
	assert_string_equal(axis_scale_name(axis.scale), "linear");
	axis = make(AXIS_RATIO, 1, 0.1, 10);
	assert_ticks(&axis, "0.1 0.2 0.5 1 2 5 10 ");
	assert_near(axis_at(&axis, 1), 50, 1e-6);
	assert_string_equal(axis_scale_name(axis.scale), "log");
}

/* The number of ticks is bounded for any values. */
static void test_extremes(void **unused)
{
	static const double values[] = {5e-324, 1e-300, 1, 1e300, 1.7e308};
	struct axis_tick ticks[AXIS_TICKS];

	for (int scale = AXIS_LINEAR; scale <= AXIS_RATIO; scale++) {
		for (size_t i = 0; i < ARRAY_LENGTH(values); i++) {
			struct axis axis = make((enum axis_scale)scale, 1e3, values[i],
						values[ARRAY_LENGTH(values) - 1 - i]);

			assert_true(axis_ticks(&axis, ticks) <= AXIS_TICKS);
		}
	}
}

static void test_text(void **unused)
{
	struct axis axis = make(AXIS_LOG, 1000, 1, 2);
	char text[AXIS_TEXT];

	axis.unit_name = "us";
	axis_text(&axis, 1234567, text);
	assert_string_equal(text, "1235 us");
	axis_text(&axis, 87654321, text);
	assert_string_equal(text, "87654 us");
	axis_text(&axis, 1.5, text);
	assert_string_equal(text, "0.0015 us");
	axis = make(AXIS_SIZES, 1, 1, 2);
	axis_text(&axis, 65536, text);
	assert_string_equal(text, "64k");
	axis = make(AXIS_NINES, 1, 0.5, 0.9);
	axis_text(&axis, 0.999, text);
	assert_string_equal(text, "99.9%");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_range),       cmocka_unit_test(test_counted),
		cmocka_unit_test(test_linear),      cmocka_unit_test(test_log),
		cmocka_unit_test(test_log_of_zero), cmocka_unit_test(test_floor),
		cmocka_unit_test(test_sizes),       cmocka_unit_test(test_nines),
		cmocka_unit_test(test_ratio),       cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
