/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "bench/cli/progress.h"
#include "core/base/clock.h"
#include "core/base/compiler.h"
#include "core/test/lib/check.h"

#define WIPED "\r\033[K"

static char text[512];
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

/* Progress is shown only on terminals, or if forced. */
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
		progress_show(&progress, 1, 2, "send/lat/64/poll", 0);
		progress_wipe(&progress);
		assert_int_equal(ftell(file) > 0, rows[i].is_shown);
	}
	fclose(file);
}

/* Progress uses one line and leaves it empty. */
static void test_line(void **unused)
{
	struct progress progress = {
		.out = out, .start_ns = clock_now_ns(), .estimate_ns = 90 * NS_PER_S};

	progress_show(&progress, 3, 30, "send/lat/64/poll", 0);
	assert_contains(text, WIPED "3/30 send/lat/64/poll  ");
	assert_contains(text, " 90 s left");
	assert_null(strchr(text, '\n'));
	progress_wipe(&progress);
	assert_string_equal(text + strlen(text) - strlen(WIPED), WIPED);
}

/* A tenth of the estimate took 1000 s, so 9000 s are left. */
static void test_time_left(void **unused)
{
	struct progress progress = {.out = out,
				    .start_ns = clock_now_ns() - 1000 * NS_PER_S,
				    .estimate_ns = 100 * NS_PER_S};
	unsigned long left;
	char *mark;

	progress_show(&progress, 2, 10, "x", 10 * NS_PER_S);
	mark = strstr(text, " s, ");
	assert_non_null(mark);
	left = strtoul(mark + 4, NULL, 10);
	/* A slow machine only increases the estimate. */
	assert_true(left >= 9000 && left < 90000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_when_it_is_shown, open_out, close_out),
		cmocka_unit_test_setup_teardown(test_line, open_out, close_out),
		cmocka_unit_test_setup_teardown(test_time_left, open_out, close_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
