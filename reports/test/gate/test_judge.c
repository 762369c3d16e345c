/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "core/test/lib/check.h"
#include "reports/gate/judge.h"
#include "reports/test/lib/failing.h"

#define ROUNDS 20

static double base[ROUNDS];
static double head[ROUNDS];
static double again[ROUNDS];
static struct error error;

static struct judge_cell cell_of(const struct compared_figure *figure, double threshold)
{
	return (struct judge_cell){
		.id = "send/lat/64/poll",
		.figure = figure,
		.threshold = threshold,
		.rounds = {{base, head}, ROUNDS}
        };
}

/* Sets the base to 100 and the values to 1, 2, 3, ... percent more, starting at first. */
static void rise(double *values, double first)
{
	for (size_t i = 0; i < ROUNDS; i++) {
		base[i] = 100;
		values[i] = 100 * (1 + first + 0.01 * (double)i);
	}
}

static void judge(struct judge_cell *cell)
{
	error = (struct error){0};
	assert_int_equal(judge_figure(cell, 1, &error), 0);
}

/* Twenty ratios from 1.01 to 1.20: the bounds at 1 % are the fifth from either end. */
static void test_by_hand(void **unused)
{
	struct judge_cell cell = cell_of(&compared_figure_median, 0.05);

	rise(head, 0.01);
	judge(&cell);
	assert_int_equal(cell.finding.pairs, 20);
	assert_near(cell.finding.judged.ratio, sqrt(1.10 * 1.11), 1e-12);
	assert_near(cell.finding.judged.low, 1.05, 1e-12);
	assert_near(cell.finding.judged.high, 1.16, 1e-12);
	assert_near(cell.finding.medians[GATE_BASE], 100, 0);
	assert_near(cell.finding.medians[GATE_HEAD], 110.5, 1e-9);
	/* Rounding decides whether 15 or 16 are beyond 1.05; both chances are from tables. */
	assert_true(fabs(cell.finding.chance - 0.020694732666015625) < 1e-12 ||
		    fabs(cell.finding.chance - 0.0059089660644531) < 1e-12);
	assert_int_equal(cell.verdict, VERDICT_UNCLEAR);
	assert_false(cell.has_failed);
	/* A single cell needs only the rank of its bounds: 1.10 * 1.11 / 1.05^2 = 1.10748^2 off. */
	assert_near(verdict_detectable(&cell.finding.judged), 1.05 * sqrt(1.10 * 1.11) / 1.05 - 1,
		    1e-9);
}

static void test_worse(void **unused)
{
	struct judge_cell cell = cell_of(&compared_figure_median, 0.05);

	rise(head, 0.06);
	judge(&cell);
	assert_true(cell.has_failed);
	assert_int_equal(cell.verdict, VERDICT_UNCLEAR);
	assert_contains(cell.why, "not confirmed by a second measurement");
	/* A difference that the second measurement does not show is unclear. */
	rise(again, -0.10);
	cell.again = (struct judge_rounds){
		{base, again},
                ROUNDS
        };
	assert_int_equal(judge_confirm(&cell, 1, &error), 0);
	assert_int_equal(cell.verdict, VERDICT_UNCLEAR);
	assert_contains(cell.why, "not in a second measurement");
	judge(&cell);
	rise(again, 0.06);
	assert_int_equal(judge_confirm(&cell, 1, &error), 0);
	assert_int_equal(cell.verdict, VERDICT_WORSE);
	/* Too few pairs, because the time ended, are no confirmation. */
	judge(&cell);
	cell.again.count = JUDGE_ROUNDS_LEAST - 1;
	assert_int_equal(judge_confirm(&cell, 1, &error), 0);
	assert_int_equal(cell.verdict, VERDICT_UNCLEAR);
	assert_contains(cell.why, "not confirmed by a second measurement");
	assert_int_equal(cell.again.count, 0);
}

/* For rates, less is worse; a better figure never fails. */
static void test_directions(void **unused)
{
	struct judge_cell rate = cell_of(&compared_figure_bytes, 0.05);
	struct judge_cell latency = cell_of(&compared_figure_median, 0.05);

	rise(head, 0.30);
	judge(&rate);
	assert_int_equal(rate.verdict, VERDICT_BETTER);
	assert_true(rate.finding.judged.low > 1.3);
	for (size_t i = 0; i < ROUNDS; i++)
		head[i] = 70 + (double)(i % 3);
	judge(&rate);
	assert_true(rate.has_failed);
	assert_near(rate.finding.judged.ratio, 0.71, 1e-12);
	assert_true(rate.finding.judged.low <= rate.finding.judged.ratio &&
		    rate.finding.judged.ratio <= rate.finding.judged.high);
	judge(&latency);
	assert_int_equal(latency.verdict, VERDICT_BETTER);
}

/* A single pair with ten times the latency changes nothing. */
static void test_outlier(void **unused)
{
	struct judge_cell cell = cell_of(&compared_figure_median, 0.05);
	double low;

	for (size_t i = 0; i < ROUNDS; i++) {
		base[i] = 100 + (double)(i % 5);
		head[i] = 100 + (double)((i + 2) % 5);
	}
	judge(&cell);
	assert_int_equal(cell.verdict, VERDICT_SAME);
	low = cell.finding.judged.low;
	head[7] *= 10;
	judge(&cell);
	assert_int_equal(cell.verdict, VERDICT_SAME);
	assert_near(cell.finding.judged.low, low, 0.021);
}

static void test_missing_rounds(void **unused)
{
	struct judge_cell cell = cell_of(&compared_figure_median, 0.05);

	rise(head, 0.30);
	for (size_t i = 0; i < 9; i++)
		(i % 2 ? base : head)[i] = (double)NAN;
	judge(&cell);
	assert_int_equal(cell.verdict, VERDICT_INVALID);
	assert_string_equal(
		cell.why,
		"only 11 of 20 pairs of runs have values on both sides; a verdict needs 12");
	rise(head, 0.30);
	for (size_t i = 0; i < ROUNDS; i++)
		base[i] = (double)NAN;
	judge(&cell);
	assert_int_equal(cell.verdict, VERDICT_INVALID);
	assert_int_equal(cell.finding.pairs, 0);
}

static void test_too_few_rounds(void **unused)
{
	struct judge_cell cell = cell_of(&compared_figure_median, 0.05);

	rise(head, 0.30);
	cell.rounds.count = 1;
	judge(&cell);
	assert_int_equal(cell.verdict, VERDICT_INVALID);
	assert_string_equal(cell.why, "too few pairs of runs for a verdict: 1 of 12");
}

static void test_faults(void **unused)
{
	struct judge_cell cell = cell_of(&compared_figure_median, 0.05);

	rise(head, 0.30);
	cell.fault = "the cat sat on it";
	judge(&cell);
	assert_int_equal(cell.verdict, VERDICT_INVALID);
	assert_string_equal(cell.why, "the cat sat on it");
	assert_false(cell.has_failed);
	cell = cell_of(&compared_figure_median, 0.05);
	cell.broken = "fails at the head";
	judge(&cell);
	assert_int_equal(cell.verdict, VERDICT_WORSE);
	assert_int_equal(judge_confirm(&cell, 1, &error), 0);
	assert_int_equal(cell.verdict, VERDICT_WORSE);
	assert_string_equal(cell.why, "fails at the head");
}

/* Equal values of 300 ns with a clock step of 100 ns may hide a difference of a third. */
static void test_coarse_clock(void **unused)
{
	struct judge_cell cell = cell_of(&compared_figure_median, 0.05);

	for (size_t i = 0; i < ROUNDS; i++)
		base[i] = head[i] = 300;
	cell.resolution = 1.0 / 3;
	judge(&cell);
	assert_int_equal(cell.verdict, VERDICT_UNCLEAR);
	assert_near(verdict_detectable(&cell.finding.judged), 1.0 / 3, 1e-5);
	cell.resolution = 0.001;
	judge(&cell);
	assert_int_equal(cell.verdict, VERDICT_SAME);
}

static void test_noise(void **unused)
{
	struct judge_cell cell = cell_of(&compared_figure_median, 0.05);

	for (size_t i = 0; i < ROUNDS; i++) {
		base[i] = 100;
		head[i] = i % 2 ? 300 : 40;
	}
	judge(&cell);
	assert_int_equal(cell.verdict, VERDICT_UNCLEAR);
	/* The median, sqrt(3 * 0.4), is a factor of sqrt(3 / 0.4) from either bound. */
	assert_near(verdict_detectable(&cell.finding.judged), 1.05 * sqrt(7.5) - 1, 1e-9);
	/* Noisy pairs that are all worse, or all better, are decided. */
	for (size_t i = 0; i < ROUNDS; i++)
		head[i] = i % 2 ? 300 : 120;
	judge(&cell);
	assert_true(cell.has_failed);
	for (size_t i = 0; i < ROUNDS; i++)
		head[i] = i % 2 ? 94 : 30;
	judge(&cell);
	assert_int_equal(cell.verdict, VERDICT_BETTER);
	/* Half are the same and half are better: unclear. */
	for (size_t i = 0; i < ROUNDS; i++)
		head[i] = i % 2 ? 98 : 30;
	judge(&cell);
	assert_int_equal(cell.verdict, VERDICT_UNCLEAR);
}

/*
 * 17 of 20 pairs beyond the threshold: p = 0.00129, which 38 cells correct to 0.049 and 39 cells to
 * 0.0502. Every cell of the family is corrected.
 */
static void test_family(void **unused)
{
	struct judge_cell cells[39];

	for (size_t i = 0; i < ROUNDS; i++) {
		base[i] = 100;
		head[i] = i < 17 ? 120 : 100;
	}
	for (size_t count = 38; count <= 39; count++) {
		for (size_t i = 0; i < count; i++) {
			cells[i] = cell_of(&compared_figure_median, 0.05);
			if (i)
				cells[i].rounds.values[GATE_HEAD] = base;
		}
		assert_int_equal(judge_figure(cells, count, &error), 0);
		assert_near(cells[0].finding.chance, 0.0012884140014648, 1e-12);
		assert_near(cells[0].finding.judged.worse, 0.0012884140014648 * (double)count,
			    1e-9);
		assert_int_equal(cells[0].has_failed, count == 38);
		assert_int_equal(cells[0].verdict, VERDICT_UNCLEAR);
		assert_int_equal(cells[1].verdict, VERDICT_SAME);
	}
}

static void test_no_memory(void **unused)
{
	struct judge_cell cell = cell_of(&compared_figure_median, 0.05);
	int code;
	int n = 0;

	rise(head, 0.01);
	do {
		error = (struct error){0};
		allocations = n++;
		code = judge_figure(&cell, 1, &error);
		allocations = -1;
		assert_int_equal(code, error.code);
	} while (code == -ENOMEM);
	assert_int_equal(code, 0);
	assert_true(n > 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),        cmocka_unit_test(test_worse),
		cmocka_unit_test(test_directions),     cmocka_unit_test(test_outlier),
		cmocka_unit_test(test_missing_rounds), cmocka_unit_test(test_too_few_rounds),
		cmocka_unit_test(test_faults),         cmocka_unit_test(test_coarse_clock),
		cmocka_unit_test(test_noise),          cmocka_unit_test(test_family),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests_name("duel", tests, NULL, NULL);
}
