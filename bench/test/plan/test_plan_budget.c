/* SPDX-License-Identifier: MIT */
#include "bench/plan/plan.h"
#include "bench/test/unit.d/words.h"
#include "core/base/clock.h"

static struct plan plan;

static int try_plan(const char *line, struct error *error)
{
	/* A plan refers to the text of its command line. */
	static struct words words;

	plan_close(&plan);
	words_init(&words, line);
	return plan_open(&plan, words.argc, words.argv, error);
}

static void check_refusal(const char *line, const char *text)
{
	struct error error = {0};

	assert_int_not_equal(try_plan(line, &error), 0);
	assert_contains(error.text, text);
}

static int end(void **unused)
{
	plan_close(&plan);
	return 0;
}

/* Any given effort replaces the budget of a preset; other options do not. */
static void test_budget(void **unused)
{
	static const struct {
		const char *line;
		uint64_t budget_ns;
		uint64_t precision;
		uint64_t trials;
	} rows[] = {
		{"h",				    15 * NS_PER_S,   5,              6},
		{"--preset|quick|h",                     15 * NS_PER_S,   5,              6},
		{"--preset|standard|h",                  90 * NS_PER_S,   5,              6},
		{"--preset|full|h",                      1200 * NS_PER_S, 5,              6},
		{"--preset|quick|-s|64|--precision|2|h", 15 * NS_PER_S,   2,              6},
		{"--preset|quick|--budget|3s|h",         3 * NS_PER_S,    5,              6},
		{"--preset|quick|--warmup|0s|h",         15 * NS_PER_S,   5,              6},
		{"--preset|quick|-n|7|h",                0,               PARAMETER_AUTO, 6},
		{"--preset|quick|-D|1s|h",               0,               PARAMETER_AUTO, 6},
		{"--preset|quick|--trials|3|h",          0,               PARAMETER_AUTO, 3},
		{"-n|7|h",			       0,               PARAMETER_AUTO, 1},
		{"--op|send|h",                          0,               PARAMETER_AUTO, 6},
		{"--op|send|--budget|3s|h",              3 * NS_PER_S,    5,              6},
 /* The length of a trial may be given as well. */
		{"--budget|3s|-D|1s|-s|8|h",             3 * NS_PER_S,    5,              6},
		{"--preset|quick|--budget|3s|-n|7|h",    3 * NS_PER_S,    5,              6},
		{"--preset|gate|h",                      0,               PARAMETER_AUTO, 6},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct error error = {0};

		assert_int_equal(try_plan(rows[i].line, &error), 0);
		assert_true(plan.budget_ns == rows[i].budget_ns);
		for (size_t j = 0; j < plan.n_cases; j++) {
			const struct plan_case *line = &plan.cases[j];

			assert_int_equal(plan_is_budgeted(line), rows[i].budget_ns != 0);
			assert_true(line->parameters.precision == rows[i].precision);
			assert_true(line->parameters.trials == rows[i].trials);
		}
	}
}

/* Loads and probes have a number of trials of their own. */
static void test_other_cases(void **unused)
{
	struct error error = {0};

	assert_int_equal(try_plan("--metric|lat,load|--rate|1k|-D|1s|--budget|9s|h", &error), 0);
	assert_int_equal(plan.n_cases, 2);
	assert_true(plan_is_budgeted(&plan.cases[0]));
	assert_false(plan_is_budgeted(&plan.cases[1]));
	assert_int_equal(plan.cases[1].parameters.trials, 1);
	assert_true(plan_unbudgeted_ns(&plan, 0) == plan_trial_ns(&plan.cases[1]));
	assert_true(plan_unbudgeted_ns(&plan, 2) == 0);
}

static void test_refusals(void **unused)
{
	check_refusal("--budget|3s|--trials|9|h", "--budget and --trials cannot be used together");
	check_refusal("--budget|3s|--interleave|h", "omit --budget");
	check_refusal("--op|send|--precision|2|h", "--precision applies only to cases with a");
	check_refusal("--preset|quick|-D|1s|--precision|2|h", "--precision applies only to");
	check_refusal("--metric|load|--rate|1k|--budget|3s|h", "--budget applies only to lat and");
	check_refusal("--precision|101|h", "--precision");
}

static void read_plan(const char *text, struct error *error)
{
	plan_close(&plan);
	plan_read(&plan, text, strlen(text), "plan.json", error);
}

static void test_plan_files(void **unused)
{
	struct error error = {0};

	read_plan("[{\"budget\": \"5s\"}, {\"size\": 8, \"budget\": \"7s\", \"trials\": 9},"
		  " {\"size\": 16}]",
		  &error);
	assert_int_equal(error.code, 0);
	assert_true(plan.budget_ns == 7 * NS_PER_S);
	assert_int_equal(plan.cases[1].parameters.trials, 9);
	assert_false(plan_is_budgeted(&plan.cases[2]));
	read_plan("{\"budget\": \"5s\", \"trials\": 5}", &error);
	assert_contains(error.text, "a budget needs at least 6 trials per case");
}

/* The whole plan takes at least the budget, and longer if the minimum of trials does. */
static void test_estimate(void **unused)
{
	struct error error = {0};

	assert_int_equal(try_plan("--budget|9s|-D|70ms|-s|64,128|h", &error), 0);
	assert_true(plan_trial_ns(&plan.cases[0]) == 100 * NS_PER_MS);
	assert_true(plan_estimate_ns(&plan, 1) == 600 * NS_PER_MS);
	assert_true(plan_estimate_ns(&plan, 2) == 9 * NS_PER_S);
	assert_int_equal(try_plan("--budget|1s|-D|70ms|-s|64,128|h", &error), 0);
	assert_true(plan_estimate_ns(&plan, 2) == 1200 * NS_PER_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_budget, end),
		cmocka_unit_test_teardown(test_other_cases, end),
		cmocka_unit_test_teardown(test_refusals, end),
		cmocka_unit_test_teardown(test_plan_files, end),
		cmocka_unit_test_teardown(test_estimate, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
