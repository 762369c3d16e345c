/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "core/test/lib/check.h"
#include "reports/table/terminal.h"

static void check(int width, bool is_colored, const char *text, const char *wanted)
{
	struct terminal terminal = {.width = width, .is_colored = is_colored};
	char *shown = NULL;
	size_t length = 0;

	terminal.out = open_memstream(&shown, &length);
	assert_non_null(terminal.out);
	terminal_wrap(&terminal, terminal_red, "no: ", 2, text);
	fclose(terminal.out);
	assert_string_equal(shown, wanted);
	free(shown);
}

static void test_wrap(void **unused)
{
	check(0, false, "one two  three", "no: one two  three\n");
	check(18, false, "one two  three", "no: one two  three\n");
	check(17, false, "one two  three", "no: one two\n  three\n");
	/* A word that is wider than the terminal is not broken. */
	check(8, false, "a 123456789 b", "no: a\n  123456789\n  b\n");
	/* Two bytes are one character. */
	check(7, false, "\xc2\xb5 \xc2\xb5", "no: \xc2\xb5 \xc2\xb5\n");
	check(6, false, "\xc2\xb5 \xc2\xb5", "no: \xc2\xb5\n  \xc2\xb5\n");
	check(0, false, "", "no: \n");
}

static void test_color(void **unused)
{
	check(9, true, "one two", "\033[31mno: \033[mone\n  two\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_color),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
