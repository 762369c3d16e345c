/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "core/test/lib/check.h"
#include "reports/export/xml.h"

static void check(const char *text, const char *wanted)
{
	char *made = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&made, &length);

	assert_non_null(out);
	xml_print(out, text);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(made, wanted);
	free(made);
}

static void test_text(void **unused)
{
	check("", "");
	check("a<b>&\"c'", "a&lt;b&gt;&amp;&quot;c'");
	check("]]>", "]]&gt;");
	check("1\x01\x1b[2J\t\n\x7f", "1??[2J???");
}

static void test_kept(void **unused)
{
	char *made = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&made, &length);

	assert_non_null(out);
	xml_print_but(out, "a\n\tb\r\x1b<\xff", "\n\t");
	assert_int_equal(fclose(out), 0);
	assert_string_equal(made, "a\n\tb??&lt;?");
	free(made);
}

static void test_utf8(void **unused)
{
	/* UTF-8 sequences of two, three and four bytes. */
	check("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
	/* Invalid bytes, a truncated sequence, an overlong one, C1, a surrogate. */
	check("\xff\xfe", "??");
	check("a\x80z", "a?z");
	check("\xe2\x82", "??");
	check("\xe2\x82z", "??z");
	check("\xc0\xaf", "??");
	check("\xc2\x85", "??");
	check("\xed\xa0\x80", "???");
	/* U+FFFE and code points beyond U+10FFFF are not characters. */
	check("\xef\xbf\xbe", "???");
	check("\xef\xbf\xbd", "\xef\xbf\xbd");
	check("\xf4\x90\x80\x80", "????");
}

static void test_attribute(void **unused)
{
	char *made = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&made, &length);

	assert_non_null(out);
	xml_attribute(out, "name", "a\"b");
	assert_int_equal(fclose(out), 0);
	assert_string_equal(made, " name=\"a&quot;b\"");
	free(made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_utf8),
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_attribute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
