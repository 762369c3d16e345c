/* SPDX-License-Identifier: MIT */
#include "bench/loop/arrival.h"
#include "core/test/lib/check.h"

#define GAPS 1000000

/* 2.5 ticks per nanosecond. */
static const struct clock clock_of_test = {.mult = (uint64_t)(0x1p32 / 2.5)};
#define TICKS_PER_S 2.5e9

/* Message k is due exactly k gaps after the start, for any number of messages. */
static void test_fixed_gaps(void **unused)
{
	static const double rates[] = {1, 3, 1000, 333333.25, 7e6, 1e12};
	struct arrival arrival;

	for (size_t i = 0; i < ARRAY_LENGTH(rates); i++) {
		arrival_init(&arrival, &clock_of_test, rates[i], false);
		arrival_begin(&arrival, 1000);
		for (uint64_t k = 1; k <= GAPS; k++) {
			double due = 1000 + (double)k * TICKS_PER_S / rates[i];

			/* The clock's multiplier has only 32 bits. */
			if (fabs((double)arrival_next(&arrival) - due) > 1 + due * 1e-9)
				fail_msg("%g per second, %zu: %g", rates[i], (size_t)k, due);
			arrival_advance(&arrival);
		}
	}
}

/* Message k is due with the first of its burst, when all of the burst are due on average. */
static void test_bursts(void **unused)
{
	static const uint64_t sizes[] = {1, 2, 7, 16384};
	struct arrival arrival;

	for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
		arrival_init(&arrival, &clock_of_test, 1e6, false);
		arrival_burst(&arrival, sizes[i]);
		arrival_begin(&arrival, 1000);
		for (uint64_t k = 0; k < 100000; k++) {
			uint64_t left = sizes[i] - k % sizes[i];
			double due = 1000 + 2500 * (double)(k + left);

			assert_near((double)arrival_next(&arrival), due, 1 + due * 1e-9);
			assert_near(arrival_count(&arrival, arrival_next(&arrival)), (double)left,
				    1e-3);
			arrival_advance(&arrival);
		}
	}
}

static void test_count(void **unused)
{
	struct arrival arrival;

	arrival_init(&arrival, &clock_of_test, 1000, false);
	arrival_begin(&arrival, 0);
	assert_near(arrival_count(&arrival, 2499990), 0, 0);
	assert_near(floor(arrival_count(&arrival, 2500010)), 1, 0);
	assert_near(floor(arrival_count(&arrival, 2500000100)), 1000, 0);
}

static double next_gap(struct arrival *arrival)
{
	unsigned __int128 before = arrival->next;

	arrival_advance(arrival);
	return (double)(arrival->next - before) * 0x1p-32;
}

/*
 * The gaps of a Poisson process are exponential: their standard deviation equals the mean, a
 * fraction exp(-t) is longer than t means, and successive gaps are independent. Each statistic of
 * a million gaps may deviate by five standard errors.
 */
static void test_poisson_gaps(void **unused)
{
	static const double rates[] = {100, 250000, 4e6};
	struct arrival arrival;

	for (size_t i = 0; i < ARRAY_LENGTH(rates); i++) {
		double mean = TICKS_PER_S / rates[i];
		double longer[] = {0, 0, 0, 0, 0, 0, 0, 0};
		double squares = 0;
		double together = 0;
		double last = mean;
		double sum = 0;

		arrival_init(&arrival, &clock_of_test, rates[i], true);
		arrival_seed(&arrival, 1, i);
		arrival_begin(&arrival, 0);
		for (int k = 0; k < GAPS; k++) {
			double gap = next_gap(&arrival);

			sum += gap / mean;
			squares += (gap / mean - 1) * (gap / mean - 1);
			together += (gap / mean - 1) * (last / mean - 1);
			last = gap;
			for (size_t t = 0; t < ARRAY_LENGTH(longer); t++)
				longer[t] += gap > mean * (double)t;
		}
		assert_near(sum / GAPS, 1, 5 / sqrt(GAPS));
		assert_near(squares / GAPS, 1, 5 * sqrt(8.0 / GAPS));
		assert_near(together / GAPS, 0, 5 / sqrt(GAPS));
		for (size_t t = 1; t < ARRAY_LENGTH(longer); t++) {
			double share = exp(-(double)t);

			assert_near(longer[t] / GAPS, share, 5 * sqrt(share * (1 - share) / GAPS));
		}
	}
}

/* Compares with the logarithm of the same numbers. */
static void test_exponential(void **unused)
{
	struct arrival arrival;
	uint64_t random;

	arrival_init(&arrival, &clock_of_test, 1, true);
	arrival_seed(&arrival, 7, 0);
	random = arrival.random;
	for (int i = 0; i < GAPS; i++) {
		double number = (double)random_next(&random) * 0x1p-64;

		assert_near((double)arrival_exponential(&arrival) * 0x1p-32, -log2(number), 3e-6);
	}
}

/* The same seed gives the same gaps; another seed or trial gives others. */
static void test_seeds(void **unused)
{
	static const uint64_t seeds[][2] = {
		{1, 0},
                {1, 0},
                {1, 1},
                {2, 0},
                {2, 1}
        };
	struct arrival arrivals[ARRAY_LENGTH(seeds)];

	for (size_t i = 0; i < ARRAY_LENGTH(seeds); i++) {
		arrival_init(&arrivals[i], &clock_of_test, 1000, true);
		arrival_seed(&arrivals[i], seeds[i][0], seeds[i][1]);
		arrival_begin(&arrivals[i], 0);
	}
	for (int k = 0; k < 1000; k++) {
		double gaps[ARRAY_LENGTH(seeds)];

		for (size_t i = 0; i < ARRAY_LENGTH(seeds); i++)
			gaps[i] = next_gap(&arrivals[i]);
		assert_near(gaps[0], gaps[1], 0);
		for (size_t i = 1; i < ARRAY_LENGTH(seeds); i++)
			for (size_t j = i + 1; j < ARRAY_LENGTH(seeds); j++)
				assert_true(gaps[i] < gaps[j] || gaps[i] > gaps[j]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fixed_gaps),   cmocka_unit_test(test_count),
		cmocka_unit_test(test_poisson_gaps), cmocka_unit_test(test_exponential),
		cmocka_unit_test(test_seeds),        cmocka_unit_test(test_bursts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
