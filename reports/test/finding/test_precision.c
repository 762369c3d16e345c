/* SPDX-License-Identifier: MIT */
#include "reports/finding/precision.h"
#include "reports/test/lib/sample.h"

#define N_CASES 7
#define TRIALS  9

/*
 * Cases with nine trials, whose message rates are 100 - 4s, 100 - 3s, ..., 100 + 4s. The interval of
 * nine values is from the second to the eighth, as in tables of the sign test, so its width is 6s %.
 */
static struct result_trial trials[N_CASES][TRIALS];
static struct result_case cases[N_CASES];
static const struct result result = {.cases = cases, .n_cases = N_CASES};

static int open_cases(void **unused)
{
	for (size_t i = 0; i < N_CASES; i++) {
		cases[i] = (struct result_case){.metric = "bw",
						.status = RESULT_COMPLETE,
						.parameters = json_pack("{s:i}", "precision", 5),
						.trials = trials[i],
						.n_trials = TRIALS};
		snprintf(cases[i].id, sizeof(cases[i].id), "case%zu", i);
		for (size_t j = 0; j < TRIALS; j++)
			trials[i][j].messages_per_s = 100 + (double)i * ((double)j - 4);
	}
	return 0;
}

static int close_cases(void **unused)
{
	for (size_t i = 0; i < N_CASES; i++)
		json_decref(cases[i].parameters);
	return 0;
}

static void test_width(void **unused)
{
	assert_near(precision_width(&cases[0]), 0, 0);
	assert_near(precision_width(&cases[2]), 0.12, 1e-9);
	/* The interval of five values would have less confidence. */
	cases[2].n_trials = 5;
	assert_true(isnan(precision_width(&cases[2])));
	assert_near(precision_wanted(&cases[0]), 0.05, 0);
	json_object_clear(cases[0].parameters);
	assert_true(isnan(precision_wanted(&cases[0])));
}

/* Latencies are judged by their median, or by the mean if trials have too few messages. */
static void test_latency(void **unused)
{
	size_t median = 0;
	size_t mean = 0;

	for (size_t i = 0; i < STATISTICS; i++) {
		median = strcmp(statistics[i].key, "p50") ? median : i;
		mean = strcmp(statistics[i].key, "mean") ? mean : i;
	}
	cases[0].metric = "lat";
	for (size_t i = 0; i < TRIALS; i++) {
		trials[0][i].latency[median] = 100 + (double)i;
		trials[0][i].latency[mean] = 50 + (double)i;
	}
	assert_near(precision_width(&cases[0]), 6.0 / 104, 1e-9);
	trials[0][3].latency[median] = (double)NAN;
	assert_near(precision_width(&cases[0]), 6.0 / 54, 1e-9);
}

static void check_printed(const char *wanted)
{
	char text[1024] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	assert_non_null(out);
	precision_print(out, &result);
	fclose(out);
	assert_string_equal(text, wanted);
}

static void test_printed(void **unused)
{
	cases[1].n_trials = 5;
	cases[4].n_trials = 8;
	cases[5].status = RESULT_FAILED;
	check_printed("1 of 6 cases reached --precision, in 5 to 9 trials\n"
		      "widest intervals: case1 (none), case6 (36 %, 9 trials), case4 (29 %, 8 "
		      "trials), case3 (18 %, 9 trials) and 1 more\n");
	for (size_t i = 1; i < N_CASES; i++)
		cases[i].status = RESULT_INTERRUPTED;
	check_printed("1 of 1 cases reached --precision, in 9 trials\n");
	/* Other runs have no budget. */
	json_object_clear(cases[0].parameters);
	check_printed("");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_width, open_cases, close_cases),
		cmocka_unit_test_setup_teardown(test_latency, open_cases, close_cases),
		cmocka_unit_test_setup_teardown(test_printed, open_cases, close_cases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
