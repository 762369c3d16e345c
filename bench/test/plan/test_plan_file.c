/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <unistd.h>

#include "bench/test/unit.d/no_operation.h"
#include "bench/test/unit.d/opened_plan.h"

static char path[] = "/tmp/plan.XXXXXX";

static void put(const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* Returns the line with % replaced by the plan file. */
static const char *with_file(const char *line)
{
	static char made[512];
	const char *mark = strchr(line, '%');

	assert_non_null(mark);
	snprintf(made, sizeof(made), "%.*s%s%s", (int)(mark - line), line, path, mark + 1);
	return made;
}

static void check_file(const char *text, const char *line, const char *ids)
{
	put(text);
	check_cases(with_file(line), ids);
}

static void test_plan_files(void **unused)
{
	check_file(
		"{\"op\": [\"send\"], \"metric\": [\"lat\"], \"size\": [64], \"cq\": [\"poll\"]}",
		"--plan|%|h", "send/lat/64/poll");
	check_file("{}", "--plan|%", "send/lat/64/poll");
	check_file("{\"size\": [\"1:4\"], \"cq\": \"event\"}", "--plan|%|h",
		   "send/lat/1/event send/lat/2/event send/lat/4/event");
	check_file("[{\"op\": \"read\"}, {\"metric\": \"bw\", \"tx-depth\": [1, 2]}]", "--plan|%|h",
		   "read/lat/64/poll send/bw/64/poll/t1 send/bw/64/poll/t2");
	/* Overlapping parts do not repeat cases. */
	check_file("[{\"size\": [1, 2]}, {\"size\": [2, 3]}, {}]", "--plan|%|h",
		   "send/lat/1/poll send/lat/2/poll send/lat/3/poll send/lat/64/poll");
	/* The command line takes precedence. */
	check_file("[{\"op\": \"read\", \"size\": [1, 2]}, {\"op\": \"write\"}]",
		   "-s|8|--plan|%|--cq|event|h", "read/lat/8/event write/lat/8/event");
}

static void test_effort_in_plan_files(void **unused)
{
	check_file("{\"iterations\": 7, \"trials\": [3]}", "--plan|%|h", "send/lat/64/poll");
	assert_int_equal(parameters_of(0)->iterations, 7);
	assert_int_equal(parameters_of(0)->trials, 3);
	check_cases(with_file("--plan|%|--trials|1|-D|2s|h"), "send/lat/64/poll");
	assert_int_equal(parameters_of(0)->duration_ns, 2000000000);
	assert_true(parameters_of(0)->iterations == PARAMETER_AUTO);
	assert_int_equal(parameters_of(0)->trials, 1);
	put("{\"iterations\": 7, \"duration\": \"1s\"}");
	check_refusal(with_file("--plan|%|h"),
		      "no case can run: send/lat/64/poll: -n and -D cannot be used together");
	check_cases(with_file("--plan|%|-n|5|h"), "send/lat/64/poll");
	assert_int_equal(parameters_of(0)->iterations, 5);
}

static void test_refused_plan_files(void **unused)
{
	static const char *const rows[][2] = {
		{"[]",			      "the plan is empty"					     },
		{"[7]",			     "a plan must be an object of lists, or an array of such objects"},
		{"[{}, []]",                        "a plan must be an object of lists, or an array of such objects"},
		{"{\"colour\": 1}",                 "unknown plan key \"colour\""                                   },
		{"{\"size\": [0]}",                 "\"size\": 0 must be between 1 and 1g"                          },
		{"[{\"size\": 1}, {\"size\": []}]", "\"size\": [] is an empty list"                                 },
		{"[{\"op\": \"push\"}]",            "\"op\": \"push\" " NO_OPERATION                                },
	};
	char wanted[512];

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		put(rows[i][0]);
		snprintf(wanted, sizeof(wanted), "%s: %s", path, rows[i][1]);
		check_refusal(with_file("--plan|%|h"), wanted);
	}
	put("{");
	assert_true(open_plan(with_file("--plan|%|h")) < 0);
	assert_contains(error.text, "line 1: ");
	check_refusal("--plan|/nowhere/plan.json|h",
		      "cannot read the plan /nowhere/plan.json: No such file or directory");
	check_refusal("--plan|x|--preset|quick|h", "--plan and --preset cannot be used together");
}

/* A result contains its plan, which gives the same cases again. */
static void test_plan_from_result(void **unused)
{
	static const char *const lines[] = {
		"",
		"h",
		"--preset|standard|h",
		"-a|-e|--op|all|--trials|2|h",
		"-s|1:4k:4+-1|--metric|all|--hugepages|-I|0|-D|1500ms|h",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(lines); i++) {
		struct plan_case *cases;
		size_t n_cases;

		assert_int_equal(open_plan(lines[i]), 0);
		assert_int_equal(json_dump_file(plan.made, path, 0), 0);
		cases = plan.cases;
		n_cases = plan.n_cases;
		plan.cases = NULL;
		assert_int_equal(open_plan(with_file("--plan|%")), 0);
		assert_int_equal(plan.n_cases, n_cases);
		for (size_t j = 0; j < n_cases; j++) {
			assert_string_equal(plan.cases[j].id, cases[j].id);
			assert_memory_equal(&plan.cases[j].parameters, &cases[j].parameters,
					    sizeof(cases[j].parameters));
		}
		free(cases);
	}
}

/* The limit of a million cases applies to the whole plan. */
static void test_limit_applies_to_all_parts(void **unused)
{
	put("[{\"size\": \"1:250:+1\", \"tx-depth\": \"1:250:+1\", \"op\": \"all\"},"
	    " {\"size\": \"1:250:+1\", \"tx-depth\": \"1:250:+1\", \"cq-mod\": \"1:16:+1\"}]");
	check_refusal(with_file("--plan|%|h"), "the plan has more than a million cases");
}

static int make_file(void **unused)
{
	int fd = mkstemp(path);

	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **unused)
{
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_plan_files, end),
		cmocka_unit_test_teardown(test_effort_in_plan_files, end),
		cmocka_unit_test_teardown(test_refused_plan_files, end),
		cmocka_unit_test_teardown(test_plan_from_result, end),
		cmocka_unit_test_teardown(test_limit_applies_to_all_parts, end),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
