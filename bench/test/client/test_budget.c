/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "bench/client/budget.h"
#include "bench/test/unit.d/words.h"
#include "core/base/clock.h"
#include "reports/stats/interval.h"

#define CASES_MOST 20
#define MINIMUM    6
#define PRECISION  0.05

static struct budget_case cases[CASES_MOST];

static struct budget make_budget(size_t n_cases)
{
	for (size_t i = 0; i < n_cases; i++)
		cases[i] = (struct budget_case){.minimum = MINIMUM,
						.precision = PRECISION,
						.trial_ns = NS_PER_MS,
						.width = (double)NAN};
	return (struct budget){.cases = cases, .n_cases = n_cases};
}

/* Runs the minimum, after which the cases have these widths. */
static struct budget make_ready(size_t n_cases, const double *widths)
{
	struct budget budget = make_budget(n_cases);

	for (size_t i = 0; i < n_cases * MINIMUM; i++) {
		size_t number = budget_next(&budget, 0);

		assert_true(number < n_cases);
		budget_add(&cases[number], NS_PER_MS,
			   cases[number].n_trials + 1 < MINIMUM ? (double)NAN : widths[number]);
	}
	assert_int_equal(budget_next(&budget, 0), n_cases);
	return budget;
}

/* Chooses n times, and checks the choices, a digit each; '-' is the end. */
static void check_choices(struct budget *budget, uint64_t left_ns, const char *wanted)
{
	char text[64] = "";

	for (size_t i = 0; i < strlen(wanted); i++) {
		size_t number = budget_next(budget, left_ns);

		if (number < budget->n_cases)
			budget_add(&cases[number], NS_PER_MS, cases[number].width);
		text[i] = (char)(number < budget->n_cases ? '0' + number : '-');
	}
	assert_string_equal(text, wanted);
}

/* Without a budget, every case has its minimum, in reverse order in every other round. */
static void test_minimum(void **unused)
{
	struct budget budget = make_budget(3);

	cases[0].minimum = 3;
	cases[1].minimum = 2;
	cases[2].minimum = 4;
	assert_true(budget_missing_ns(&budget) == 9 * NS_PER_MS);
	check_choices(&budget, 0, "012210022--");
	assert_true(budget_missing_ns(&budget) == 0);
}

static void test_failed_case(void **unused)
{
	struct budget budget = make_budget(3);

	check_choices(&budget, 0, "012210");
	cases[1].is_over = true;
	check_choices(&budget, 0, "02200220--");
}

static void test_widest_first(void **unused)
{
	struct budget budget = make_ready(4, (const double[]){0.1, 0.6, 0.01, 0.4});

	/* The interval of case 0 is less than half as wide as the widest one. */
	check_choices(&budget, NS_PER_S, "1331");
	cases[1].width = cases[3].width = 0.12;
	check_choices(&budget, NS_PER_S, "013310");
}

/* A case whose interval does not narrow leaves trials to the others. */
static void test_no_case_takes_all(void **unused)
{
	struct budget budget = make_ready(2, (const double[]){10, 0.5});
	size_t n = 0;

	while (budget_next(&budget, NS_PER_S) != 1 && n++ < BUDGET_TRIALS_MOST)
		budget_add(&cases[0], NS_PER_MS, 10);
	/* Case 1 is part of a round once 10 / sqrt(n) is at most twice 0.5 / sqrt(6). */
	assert_in_range(cases[0].n_trials, 600, 602);
}

/* One narrow interval may be chance: a case ends when two in a row are. */
static void test_precision_is_confirmed(void **unused)
{
	struct budget budget = make_ready(1, (const double[]){PRECISION});

	check_choices(&budget, NS_PER_S, "0-");
	budget = make_ready(1, (const double[]){PRECISION});
	cases[0].width = 0.06;
	check_choices(&budget, NS_PER_S, "0");
	cases[0].width = PRECISION;
	check_choices(&budget, NS_PER_S, "00-");
}

static void test_time_is_over(void **unused)
{
	struct budget budget = make_ready(3, (const double[]){0.5, 0.5, (double)NAN});

	cases[0].trial_ns = 3 * NS_PER_MS;
	/* A trial of case 0 does not fit, and case 2 has no interval that could narrow. */
	check_choices(&budget, 2 * NS_PER_MS, "111");
	check_choices(&budget, NS_PER_MS - 1, "-");
}

static void test_most_trials(void **unused)
{
	struct budget budget = make_ready(1, (const double[]){1});

	cases[0].n_trials = BUDGET_TRIALS_MOST - 1;
	check_choices(&budget, NS_PER_S, "0-");
}

/* SplitMix64, by Sebastiano Vigna: its constants are published. */
static uint64_t random_state;

static double draw_uniform(void)
{
	uint64_t mixed = random_state += 0x9e3779b97f4a7c15;

	mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
	mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
	mixed ^= mixed >> 31;
	return ((double)(mixed >> 11) + 0.5) / (double)(1ULL << 53);
}

/* Latencies of trials on modelled links. The true median of each is 1. */
static double draw_symmetric(double spread)
{
	return exp(spread * sqrt(-2 * log(draw_uniform())) * cos(2 * M_PI * draw_uniform()));
}

static double draw_skewed(double spread)
{
	return 1 + spread * (-log(draw_uniform()) - M_LN2);
}

static double figures[CASES_MOST][BUDGET_TRIALS_MOST];

static struct interval interval_of(size_t number)
{
	struct interval interval;
	struct error error = {0};

	assert_int_equal(
		interval_median(&interval, figures[number], cases[number].n_trials, &error), 0);
	return interval;
}

static void simulate_trial(size_t number, double latency)
{
	struct interval interval;
	double width = (double)NAN;

	figures[number][cases[number].n_trials] = latency;
	cases[number].n_trials++;
	interval = interval_of(number);
	cases[number].n_trials--;
	if (interval_is_sure(&interval))
		width = (interval.high - interval.low) / interval.median;
	budget_add(&cases[number], NS_PER_MS, width);
}

/* Runs a sweep of cases whose spreads differ. Returns how many intervals contain the true median. */
static size_t simulate_sweep(double (*draw)(double), uint64_t budget_ns)
{
	struct budget budget = make_budget(CASES_MOST);
	double spreads[CASES_MOST];
	uint64_t elapsed_ns = 0;
	size_t n_good = 0;
	size_t number;

	for (size_t i = 0; i < CASES_MOST; i++)
		spreads[i] = 0.01 * pow(10, draw_uniform());
	while ((number = budget_next(&budget, budget_ns - elapsed_ns)) < CASES_MOST) {
		simulate_trial(number, draw(spreads[number]));
		elapsed_ns += NS_PER_MS;
	}
	assert_true(elapsed_ns <= budget_ns);
	for (size_t i = 0; i < CASES_MOST; i++) {
		struct interval interval = interval_of(i);

		n_good += interval.low <= 1 && interval.high >= 1;
	}
	return n_good;
}

/*
 * Of the intervals of 1000 cases, 95 % contain the true median, although the number of trials
 * depends on the intervals. If the budget is short, few cases reach the precision; if it is long,
 * all do.
 */
static void test_intervals_keep_their_confidence(void **unused)
{
	static double (*const links[])(double) = {draw_symmetric, draw_skewed};
	static const uint64_t trials_per_case[] = {8, 12, 20, 100};

	for (size_t i = 0; i < ARRAY_LENGTH(links); i++)
		for (size_t j = 0; j < ARRAY_LENGTH(trials_per_case); j++) {
			size_t n_good = 0;

			random_state = 1;
			for (size_t k = 0; k < 1000 / CASES_MOST; k++)
				n_good += simulate_sweep(links[i], trials_per_case[j] * CASES_MOST *
									   NS_PER_MS);
			print_message("# link %zu, %lu trials per case: %zu of 1000\n", i,
				      (unsigned long)trials_per_case[j], n_good);
			assert_in_range(n_good, 950, 1000);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_minimum),
		cmocka_unit_test(test_failed_case),
		cmocka_unit_test(test_widest_first),
		cmocka_unit_test(test_no_case_takes_all),
		cmocka_unit_test(test_precision_is_confirmed),
		cmocka_unit_test(test_time_is_over),
		cmocka_unit_test(test_most_trials),
		cmocka_unit_test(test_intervals_keep_their_confidence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
