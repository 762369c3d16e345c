/* SPDX-License-Identifier: MIT */
/* Tests plans with several hosts: each pair of hosts has one flow of the pattern. */
#include "bench/plan/pattern.h"
#include "bench/plan/plan.h"
#include "bench/test/unit.d/words.h"

static struct plan plan;

/* Returns the single case of a command line. */
static const struct plan_case *open_plan(const char *line)
{
	/* A plan refers to the text of its command line. */
	static struct words words;
	struct error error = {0};

	plan_close(&plan);
	words_init(&words, line);
	if (plan_open(&plan, words.argc, words.argv, &error))
		fail_msg("%s: %s", line, error.text);
	assert_int_equal(plan.n_cases, 1);
	return plan.cases;
}

static int end(void **unused)
{
	plan_close(&plan);
	return 0;
}

/* A flow between two hosts uses the same threads and queue pairs, whatever the other hosts do. */
static void test_flow_does_not_depend_on_other_hosts(void **unused)
{
	static const struct {
		const char *options;
		const char *pattern;
	} rows[] = {
		{"--op|send|-s|64|-D|1s|--threads|8|-q|32",         "all-to-all" },
		{"--op|send|-s|64|-D|1s|--threads|16|-q|64",        "many-to-one"},
		{"--op|send|-s|64|-D|1s|--threads|16|-q|64",        "one-to-many"},
		{"--op|send|-s|64|-D|1s|--threads|8|--use-srq",     "many-to-one"},
		{"--op|write|-s|1m|-D|1s|--threads|8|-q|4",         "all-to-all" },
		{"--op|write|-s|1m|-D|1s|--threads|8|-q|32",        "all-to-all" },
 /* More than a single process can connect. */
		{"--op|write|-s|64|-D|1s|--threads|64|-q|16",       "all-to-all" },
		{"--op|send|-s|64|-D|1s|-c|UD|--threads|32|-q|8",   "all-to-all" },
 /* The buffer has room for the flow's queue pairs, but not for those of the whole pattern. */
		{"--op|write|-s|1m|-D|1s|--threads|8|--buffer|16m", "all-to-all" },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		char line[256];
		const struct plan_case *made;
		struct parameters alone;

		snprintf(line, sizeof(line), "%s|--metric|bw|a", rows[i].options);
		made = open_plan(line);
		assert_string_equal(made->skipped, "");
		alone = made->parameters;
		snprintf(line, sizeof(line), "%s|--pattern|%s|a,b,c", rows[i].options,
			 rows[i].pattern);
		made = open_plan(line);
		assert_string_equal(made->skipped, "");
		assert_non_null(strstr(made->id, rows[i].pattern));
		assert_true(pattern_is_on(&made->parameters));
		alone.pattern = made->parameters.pattern;
		assert_memory_equal(&made->parameters, &alone, sizeof(alone));
	}
}

/* The rules for patterns also apply to patterns of hosts. */
static void test_refusals(void **unused)
{
	static const struct {
		const char *line;
		const char *refusal;
	} rows[] = {
		{"--op|send|--metric|lat|--pattern|all-to-all|a,b",
		 "no case can run: send/lat/64/poll/all-to-all: --pattern applies only to bw"                           },
		{"--op|send|-n|9|--pattern|all-to-all|a,b",
		 "no case can run: send/bw/64k/poll/all-to-all: --pattern needs a common duration; use -D instead of -n"},
		{"--op|send|--threads|64|-q|512|--pattern|all-to-all|a,b",
		 "no case can run: send/bw/64k/poll/q512/threads64/all-to-all: --qps times "
		 "--threads exceeds 16384 queue pairs"								  },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct words words;
		struct error error = {0};

		plan_close(&plan);
		words_init(&words, rows[i].line);
		assert_true(plan_open(&plan, words.argc, words.argv, &error) < 0);
		assert_string_equal(error.text, rows[i].refusal);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_flow_does_not_depend_on_other_hosts, end),
		cmocka_unit_test_teardown(test_refusals, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
