/* SPDX-License-Identifier: MIT */
#include "bench/plan/plan.h"
#include "bench/test/unit.d/words.h"

static struct plan plan;

static void open_plan(const char *line)
{
	/* A plan refers to the text of its command line. */
	static struct words words;
	struct error error = {0};

	plan_close(&plan);
	words_init(&words, line);
	assert_int_equal(plan_open(&plan, words.argc, words.argv, &error), 0);
}

static int end(void **unused)
{
	plan_close(&plan);
	return 0;
}

/* Cases of one product and metric alternate, unless they need their own run. */
static void test_turns(void **unused)
{
	static const struct {
		const char *line;
		size_t turns;
	} rows[] = {
		{"-l|1,4|--metric|bw|h",                                1},
		{"-l|1,4|--metric|bw|--interleave|h",                   2},
		{"-l|1,4|--metric|lat,bw|--interleave|h",               2},
		{"--op|send|-l|1,4|--metric|bw|--needs|--interleave|h", 1},
		{"--metric|load|--rate|1k,2k|--interleave|h",           1},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		open_plan(rows[i].line);
		assert_int_equal(plan_turns(&plan, 0), rows[i].turns);
	}
	open_plan("-l|1,4|--metric|bw|--cq|poll,event|--interleave|h");
	assert_int_equal(plan.n_cases, 4);
	assert_null(plan.cases[0].by);
	assert_string_equal(plan.cases[1].by->option.name, "post-list");
	assert_int_equal(plan.cases[1].beside, 0);
	assert_string_equal(plan.cases[2].by->option.name, "cq");
	assert_int_equal(plan.cases[2].beside, 0);
	assert_null(plan.cases[3].by);
}

/* Parameters that affect neither case are ignored; cases are compared within their product. */
static void test_compared_cases(void **unused)
{
	open_plan("--pages|touched,untouched|--op|register|--interleave|h");
	assert_int_equal(plan.n_cases, 2);
	assert_string_equal(plan.cases[1].by->option.name, "pages");
	/* Steps are not alternatives to each other. */
	open_plan("--op|connect|--step|create,bind|--interleave|h");
	assert_int_equal(plan.n_cases, 2);
	assert_null(plan.cases[1].by);
	open_plan("--op|write,read|--registration|once,each|--interleave|h");
	assert_int_equal(plan.n_cases, 3);
	assert_null(plan.cases[0].by);
	assert_null(plan.cases[1].by);
	assert_int_equal(plan.cases[2].beside, 1);
	assert_int_equal(plan_turns(&plan, 0), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_turns, end),
		cmocka_unit_test_teardown(test_compared_cases, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
