/* SPDX-License-Identifier: MIT */
#include "core/test/lib/check.h"
#include "reports/gate/sentences.h"

/* What is a quarter worse takes a quarter longer, or gets through a fifth less. */
static void test_would_be_found(void **unused)
{
	static const struct {
		const struct compared_figure *figure;
		const char *text;
	} rows[] = {
		{&compared_figure_median,
		 "id p50 us of the head is 5.0 % less than the base's (-10.0 to +2.0 %): these "
		 "rounds would have found one that is 25 % worse"},
		{&compared_figure_bytes,
		 "id Gb/s of the head is 5.0 % less than the base's (-10.0 to +2.0 %): these "
		 "rounds would have found one that is 20 % less" },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		const struct judge_cell cell = {
			.id = "id",
			.figure = rows[i].figure,
			.verdict = JUDGE_INCONCLUSIVE,
			.finding = {.pairs = 12,
				    .ratio = 0.95,
				    .low = 0.9,
				    .high = 1.02,
				    .seen = 1.25},
		};
		char text[GATE_TEXT];

		gate_tell_cell(text, &cell);
		assert_string_equal(text, rows[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_would_be_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
