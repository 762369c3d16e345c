/* SPDX-License-Identifier: MIT */
#include "core/test/lib/check.h"
#include "reports/result/statistic.h"

static struct hist hist;

static const struct statistic *find(const char *key)
{
	for (size_t i = 0; i < STATISTICS; i++)
		if (!strcmp(statistics[i].key, key))
			return &statistics[i];
	fail_msg("no statistic %s", key);
	return NULL;
}

static bool is_known(const char *key)
{
	const struct statistic *statistic = find(key);

	return statistic->is_known(&hist, statistic);
}

static double value(const char *key)
{
	const struct statistic *statistic = find(key);

	return statistic->value(&hist, statistic);
}

static void add(uint64_t sample, size_t times)
{
	for (size_t i = 0; i < times; i++)
		hist_add(&hist, sample);
}

static void test_no_samples(void **unused)
{
	hist_init(&hist);
	for (size_t i = 0; i < STATISTICS; i++)
		assert_false(statistics[i].is_known(&hist, &statistics[i]));
}

/* One sample has no spread. */
static void test_one_sample(void **unused)
{
	hist_init(&hist);
	add(7, 1);
	assert_true(is_known("min") && is_known("mean") && is_known("max"));
	assert_false(is_known("stddev"));
	assert_false(is_known("p50"));
	add(7, 1);
	assert_true(is_known("stddev"));
}

/* A percentile is known if at least ten samples lie beyond it. */
static void test_samples_for_percentiles(void **unused)
{
	static const struct {
		const char *key;
		size_t count;
	} rows[] = {
		{"p50",    20    },
                {"p90",    100   },
                {"p99",    1000  },
                {"p99_9",  10000 },
                {"p99_99", 100000},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		hist_init(&hist);
		add(1000, rows[i].count - 1);
		assert_false(is_known(rows[i].key));
		add(1000, 1);
		assert_true(is_known(rows[i].key));
		assert_near(value(rows[i].key), 1000, 0);
	}
}

/* The numbers 1 to 1000, with statistics from textbook formulas. */
static void test_values(void **unused)
{
	hist_init(&hist);
	for (uint64_t i = 1; i <= 1000; i++)
		add(i, 1);
	assert_near(value("min"), 1, 0);
	assert_near(value("max"), 1000, 0);
	assert_near(value("mean"), 500.5, 0);
	/* sqrt(n * (n + 1) / 12) */
	assert_near(value("stddev"), 288.8194360957494, 1e-9);
	assert_near(value("p50"), 500, 0);
	assert_near(value("p90"), 900, 0);
	assert_near(value("p99"), 990, 0);
}

static void test_keys_are_unique(void **unused)
{
	for (size_t i = 0; i < STATISTICS; i++)
		assert_ptr_equal(find(statistics[i].key), &statistics[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_samples),
		cmocka_unit_test(test_one_sample),
		cmocka_unit_test(test_samples_for_percentiles),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_keys_are_unique),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
