/* SPDX-License-Identifier: MIT */
#include "core/test/lib/check.h"
#include "reports/result/statistic.h"

static struct hist hist;

static const struct statistic *find(const char *key)
{
	for (size_t i = 0; i < STATISTICS; i++)
		if (!strcmp(statistics[i].key, key))
			return &statistics[i];
	fail_msg("there is no statistic %s", key);
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

static void test_nothing_is_known_of_nothing(void **unused)
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

/* Ten samples have to lie beyond a percentile. */
static void test_where_percentiles_begin(void **unused)
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

/* The numbers 1 to 1000: figures that a text book gives. */
static void test_values(void **unused)
{
	hist_init(&hist);
	for (uint64_t i = 1; i <= 1000; i++)
		add(i, 1);
	assert_near(value("min"), 1, 0);
	assert_near(value("max"), 1000, 0);
	assert_near(value("mean"), 500.5, 0);
	/* n (n + 1) / 12 under the root. */
	assert_near(value("stddev"), 288.8194360957494, 1e-9);
	assert_near(value("p50"), 500, 0);
	assert_near(value("p90"), 900, 0);
	assert_near(value("p99"), 990, 0);
}

static void test_each_has_one_name(void **unused)
{
	for (size_t i = 0; i < STATISTICS; i++)
		assert_ptr_equal(find(statistics[i].key), &statistics[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_known_of_nothing),
		cmocka_unit_test(test_one_sample),
		cmocka_unit_test(test_where_percentiles_begin),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_each_has_one_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
