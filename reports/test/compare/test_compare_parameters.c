/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "reports/compare/sentences.h"
#include "reports/test/lib/comparing.h"

/* Starts over with two runs per side. Returns the parameters of the first new run. */
static json_t *runs_anew(void)
{
	compare_close(&comparison);
	minute = 0;
	error = (struct error){0};
	add_runs(COMPARE_BASE, "send/lat/64/poll", slow, 2);
	add_runs(COMPARE_NEW, "send/lat/64/poll", slower, 2);
	return comparison.sides[COMPARE_NEW].runs[0].result.cases[0].parameters;
}

static void test_other_parameters(void **unused)
{
	json_t *parameters = runs_anew();

	json_object_set_new(parameters, "trials", json_integer(7));
	json_object_set_new(parameters, "interleave", json_true());
	json_object_set_new(parameters, "later", json_integer(7));
	assert_int_equal(compare_judge(&comparison, &error), 0);
	parameters = runs_anew();
	json_object_set_new(parameters, "tx-depth", json_integer(7));
	assert_int_equal(compare_judge(&comparison, &error), -ENODATA);
	check_gap(0, "send/lat/64/poll", "its tx-depth differs between runs: 64 and 7", false);
	parameters = runs_anew();
	comparison.is_forced = true;
	json_object_set_new(parameters, "tx-depth", json_integer(7));
	json_object_set_new(parameters, "rx-depth", json_integer(3));
	assert_int_equal(compare_judge(&comparison, &error), 0);
	assert_int_equal(comparison.n_compared, 1);
	check_gap(0, "send/lat/64/poll",
		  "its tx-depth differs between runs: 64 and 7; "
		  "its rx-depth differs between runs: 9 and 3",
		  true);
	assert_true(comparison.gaps[0].is_excused);
	assert_string_equal(comparison.difference,
			    "send/lat/64/poll: its tx-depth differs between runs: 64 and 7; "
			    "its rx-depth differs between runs: 9 and 3");
}

/* A parameter of a newer version may matter, so a difference in it prevents a comparison. */
static void test_unknown_parameter(void **unused)
{
	json_t *parameters;

	runs_anew();
	for (enum compare_side side = 0; side < COMPARE_SIDES; side++)
		for (size_t i = 0; i < 2; i++)
			json_object_set_new(
				comparison.sides[side].runs[i].result.cases[0].parameters, "later",
				json_integer(7));
	assert_int_equal(compare_judge(&comparison, &error), 0);
	parameters = runs_anew();
	json_object_set_new(parameters, "later", json_integer(7));
	json_object_set_new(comparison.sides[COMPARE_BASE].runs[0].result.cases[0].parameters,
			    "later", json_integer(3));
	assert_int_equal(compare_judge(&comparison, &error), -ENODATA);
	check_gap(0, "send/lat/64/poll", "its later differs between runs: 3 and 7", false);
}

/* A case with two gaps counts once as not compared. */
static void test_two_reasons(void **unused)
{
	json_t *parameters = runs_anew();
	char text[COMPARE_TEXT];

	json_object_set_new(parameters, "tx-depth", json_integer(7));
	comparison.sides[COMPARE_NEW].runs[1].known[0].has_figures = false;
	assert_int_equal(compare_judge(&comparison, &error), -ENODATA);
	check_gap(0, "send/lat/64/poll", "interrupted in 1 of 2 runs of NEW", false);
	check_gap(1, "send/lat/64/poll", "its tx-depth differs between runs: 64 and 7", false);
	compare_sum(&comparison, text);
	assert_contains(text, "; 1 case not compared");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_other_parameters),
		TEST(test_unknown_parameter),
		TEST(test_two_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
