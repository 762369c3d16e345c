/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "bench/cli/progress.h"
#include "core/base/clock.h"
#include "core/base/compiler.h"
#include "core/test/lib/check.h"

#define WIPED "\r\033[K"
#define WHAT  "write-notify/lat/64/poll/t128/r256"

static const struct progress_step step = {
	.number = 3,
	.count = 30,
	.unit = "cases",
	.what = "send/lat/64/poll",
	.trial = 4,
	.n_trials = 6,
};

static char text[PROGRESS_TEXT];
static FILE *out;

static int open_out(void **unused)
{
	memset(text, 0, sizeof(text));
	out = fmemopen(text, sizeof(text), "w");
	return out ? 0 : -1;
}

static int close_out(void **unused)
{
	return fclose(out);
}

/* A file gets a line for each case only if it is forced to; no line is due so soon. */
static void test_when_it_is_shown(void **unused)
{
	static const struct {
		bool is_forced;
		bool is_quiet;
		bool is_shown;
	} rows[] = {
		{false, false, false},
		{false, true,  false},
		{true,  false, true },
		{true,  true,  true },
	};
	FILE *file = tmpfile();

	assert_non_null(file);
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct progress progress;

		progress_init(&progress, file, rows[i].is_forced, rows[i].is_quiet, NS_PER_S);
		rewind(file);
		progress_show(&progress, &step);
		progress_wipe(&progress);
		assert_int_equal(ftell(file) > 0, rows[i].is_shown);
	}
	fclose(file);
}

/* Lines of a file are complete, and at least 30 s apart. */
static void test_lines(void **unused)
{
	struct progress progress = {.out = out,
				    .start_ns = clock_now_ns() - 45 * NS_PER_S,
				    .estimate_ns = 100 * NS_PER_S};

	progress.shown_ns = clock_now_ns();
	progress_show(&progress, &step);
	assert_string_equal(text, "");
	progress.shown_ns -= 31 * NS_PER_S;
	progress_show(&progress, &step);
	assert_contains(text, "3/30 cases, send/lat/64/poll, ");
	assert_contains(text, " elapsed, 1 min 40 s left\n");
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	progress_wipe(&progress);
	assert_null(strchr(text, '\033'));
}

/* The trials of a case have no lines of their own. */
static void test_a_line_per_case(void **unused)
{
	struct progress progress = {
		.out = out, .is_eager = true, .start_ns = clock_now_ns(), .shown_ns = 1};
	struct progress_step next = step;
	size_t length;

	progress_show(&progress, &next);
	length = strlen(text);
	next.trial++;
	progress_show(&progress, &next);
	assert_int_equal(strlen(text), length);
	next.number++;
	progress_show(&progress, &next);
	assert_true(strlen(text) > length);
}

/* A terminal has one line, which is left empty. */
static void test_terminal(void **unused)
{
	struct progress progress = {.out = out, .is_terminal = true, .start_ns = clock_now_ns()};

	progress_show(&progress, &step);
	assert_contains(text, WIPED "[");
	assert_null(strchr(text, '\n'));
	progress_wipe(&progress);
	assert_string_equal(text + strlen(text) - strlen(WIPED), WIPED);
}

/*
 * Lines fit: first the bar shrinks to ten cells, then the case is shortened, then the bar shrinks
 * further, and at last the end is cut off.
 */
static void test_columns(void **unused)
{
	static const struct {
		size_t columns;
		const char *line;
	} rows[] = {
		{140, "[=====               ] 3/30 cases, " WHAT
		      ", trial 4 of 6, 45 s, 2 min 15 s left"                },
		{100, "[===          ] 3/30 cases, " WHAT ", trial 4 of 6, 45 s, 2 min 15 s left" },
		{80,  "[==        ] 3/30 cases, write-no..28/r256, trial 4 of 6, 45 s, 2 min 15 s "
		     "left"						   },
		{75,  "[=     ] 3/30 cases, write-n..28/r256, trial 4 of 6, 45 s, 2 min 15 s left"},
		{70,  "3/30 cases, write-not..t128/r256, trial 4 of 6, 45 s, 2 min 15 s left"     },
		{60,  "3/30 cases, writ..r256, trial 4 of 6, 45 s, 2 min 15 s left"               },
		{20,  "3/30 cases, , trial"						       },
		{1,   ""									  },
	};
	struct progress_step longer = step;

	longer.what = WHAT;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		progress_format(text, &longer, 45 * NS_PER_S, 135 * NS_PER_S, rows[i].columns);
		assert_string_equal(text, rows[i].line);
		assert_true(strlen(text) < rows[i].columns);
	}
}

/* With a budget the number of trials is unknown; pairs of runs have no name. */
static void test_parts(void **unused)
{
	struct progress_step part = step;

	part.n_trials = 0;
	progress_format(text, &part, 0, 0, 80);
	assert_string_equal(text, "[                    ] 3/30 cases, send/lat/64/poll, trial 4, "
				  "0 s, 0 s left");
	part = (struct progress_step){.number = 1, .count = 2, .unit = "pairs of runs"};
	progress_format(text, &part, NS_PER_S, NS_PER_S, 80);
	assert_string_equal(text, "[==========          ] 1/2 pairs of runs, 1 s, 1 s left");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_when_it_is_shown, open_out, close_out),
		cmocka_unit_test_setup_teardown(test_lines, open_out, close_out),
		cmocka_unit_test_setup_teardown(test_a_line_per_case, open_out, close_out),
		cmocka_unit_test_setup_teardown(test_terminal, open_out, close_out),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
