/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "core/base/compiler.h"
#include "core/test/lib/check.h"
#include "reports/gate/sentences.h"

static struct judge_cell cell_of(enum verdict verdict, double low, double high)
{
	return (struct judge_cell){
		.id = "id",
		.figure = &compared_figure_median,
		.verdict = verdict,
		.finding = {.pairs = 12,
			    .judged = {.ratio = 0.95,
				       .low = low,
				       .high = high,
				       .threshold = 0.05,
				       .reach = log(1.2)}},
	};
}

/* Checks the last column of the table. */
static void assert_verdict(struct judge_cell *cell, const char *wanted)
{
	struct gate_record gate = {.cells = cell, .n_cells = 1};
	const char *text;
	struct grid grid;

	gate_grid(&grid, &gate);
	text = grid_cells(&grid);
	for (size_t i = 1; i < grid.n_columns; i++)
		text += strlen(text) + 1;
	assert_string_equal(text, wanted);
	grid_close(&grid);
}

/* The smallest detectable difference is 1.05 * 1.2 = 1.26. */
static void test_cells(void **unused)
{
	struct judge_cell cell = cell_of(VERDICT_UNCLEAR, 0.9, 1.02);
	char text[GATE_TEXT];

	gate_describe_cell(text, &cell);
	assert_string_equal(text, "id p50 us: unclear: 5.0 % less (-10.0 to +2.0 %); the smallest "
				  "difference that the data could have shown is 26 %");
	assert_verdict(&cell, "unclear (detects 26 %)");
	/* Unclear for a reason other than its interval. */
	snprintf(cell.why, sizeof(cell.why), "a reason");
	gate_describe_cell(text, &cell);
	assert_string_equal(text, "id p50 us: unclear: a reason");
	assert_verdict(&cell, "unclear");
	cell = cell_of(VERDICT_WORSE, 1.08, 1.12);
	cell.finding.judged.ratio = 1.1;
	gate_describe_cell(text, &cell);
	assert_string_equal(text, "id p50 us: worse: 10.0 % more (+8.0 to +12.0 %)");
}

/* The headline is the worst verdict; an invalid gate is always invalid. */
static void test_headline(void **unused)
{
	static const struct {
		enum verdict verdicts[3];
		const char *text;
	} rows[] = {
		{{VERDICT_SAME, VERDICT_SAME, VERDICT_BETTER},
		 "same: 3 figures of 2 cases in 16 pairs of runs: 2 same, 1 better"               },
		{{VERDICT_SAME, VERDICT_UNCLEAR, VERDICT_BETTER},
		 "unclear: 3 figures of 2 cases in 16 pairs of runs: 1 unclear, 1 same, 1 better" },
		{{VERDICT_UNCLEAR, VERDICT_UNCLEAR, VERDICT_UNCLEAR},
		 "unclear: 3 figures of 2 cases in 16 pairs of runs: 3 unclear"                   },
		{{VERDICT_UNCLEAR, VERDICT_INVALID, VERDICT_SAME},
		 "invalid: 3 figures of 2 cases in 16 pairs of runs: 1 invalid, 1 unclear, 1 same"},
		{{VERDICT_UNCLEAR, VERDICT_INVALID, VERDICT_WORSE},
		 "worse: 3 figures of 2 cases in 16 pairs of runs: 1 worse, 1 invalid, 1 unclear" },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct judge_cell cells[3];
		struct gate_record gate = {
			.cells = cells, .n_cells = 3, .n_cases = 2, .n_rounds = 16};
		char text[GATE_TEXT];

		for (size_t j = 0; j < 3; j++)
			cells[j] = cell_of(rows[i].verdicts[j], 0.9, 1.1);
		gate_sum(&gate, text);
		assert_string_equal(text, rows[i].text);
		snprintf(gate.invalid, sizeof(gate.invalid), "a reason");
		gate_sum(&gate, text);
		assert_string_equal(text,
				    "invalid: 3 figures of 2 cases in 16 pairs of runs: 3 invalid");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cells),
		cmocka_unit_test(test_headline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
