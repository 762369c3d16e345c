/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "core/base/compiler.h"
#include "core/test/lib/check.h"
#include "reports/test/lib/failing.h"
#include "reports/verdict/sentences.h"

/* A latency with a threshold of 5 %. */
static struct judged_ratio latency(double low, double high)
{
	return (struct judged_ratio){.ratio = sqrt(low * high),
				     .low = low,
				     .high = high,
				     .threshold = 0.05,
				     .reach = log(high / low) / 2};
}

static void test_intervals(void **unused)
{
	static const struct {
		double low;
		double high;
		enum verdict latency;
		enum verdict rate;
	} rows[] = {
		{0.98,        1.02,        VERDICT_SAME,    VERDICT_SAME   },
 /* A difference is shown, but it is below the threshold. */
		{1.02,        1.04,        VERDICT_SAME,    VERDICT_SAME   },
		{0.953,       1.0499,      VERDICT_SAME,    VERDICT_SAME   },
 /* 1 / 1.05 is 0.95238. */
		{0.952,       1.02,        VERDICT_UNCLEAR, VERDICT_UNCLEAR},
		{0.98,        1.051,       VERDICT_UNCLEAR, VERDICT_UNCLEAR},
 /* A difference is shown, but it may be below the threshold. */
		{1.02,        1.20,        VERDICT_UNCLEAR, VERDICT_UNCLEAR},
		{1.051,       1.20,        VERDICT_WORSE,   VERDICT_BETTER },
		{0.80,        0.952,       VERDICT_BETTER,  VERDICT_WORSE  },
		{0.80,        0.953,       VERDICT_UNCLEAR, VERDICT_UNCLEAR},
		{0.018,       2.977,       VERDICT_UNCLEAR, VERDICT_UNCLEAR},
		{1.10,        HUGE_VAL,    VERDICT_UNCLEAR, VERDICT_UNCLEAR},
		{0,           0.5,         VERDICT_UNCLEAR, VERDICT_UNCLEAR},
		{(double)NAN, (double)NAN, VERDICT_UNCLEAR, VERDICT_UNCLEAR},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct judged_ratio judged = latency(rows[i].low, rows[i].high);

		assert_int_equal(verdict_of(&judged), rows[i].latency);
		judged.more_is_good = true;
		assert_int_equal(verdict_of(&judged), rows[i].rate);
		judged.is_invalid = true;
		assert_int_equal(verdict_of(&judged), VERDICT_INVALID);
	}
}

static void test_thresholds(void **unused)
{
	struct judged_ratio judged = latency(0.92, 1.09);

	assert_int_equal(verdict_of(&judged), VERDICT_UNCLEAR);
	judged.threshold = 0.10;
	assert_int_equal(verdict_of(&judged), VERDICT_SAME);
}

/* Values of 80 and 90 in steps of 10: the step is 12.5 %. */
static void test_steps_of_values(void **unused)
{
	struct judged_ratio judged = latency(1.125, 1.125);

	judged.resolution = 0.125;
	assert_int_equal(verdict_of(&judged), VERDICT_UNCLEAR);
	/* Two values in the same step may still differ. */
	judged.low = judged.high = 1;
	assert_int_equal(verdict_of(&judged), VERDICT_UNCLEAR);
	judged.low = judged.high = 1.25;
	assert_int_equal(verdict_of(&judged), VERDICT_WORSE);
	judged.low = judged.high = 1;
	judged.resolution = 0.05;
	assert_int_equal(verdict_of(&judged), VERDICT_SAME);
}

/*
 * Holm by hand: of four figures, the levels are 0.0125, 0.0167 and 0.025 for the first three.
 * 0.012 * 4 = 0.048 and 0.016 * 3 = 0.048 pass, 0.026 * 2 = 0.052 does not. Invalid figures and
 * figures without an interval are not part of the family.
 */
static void test_family(void **unused)
{
	static const double worse[] = {0.026, 0.012, 0.5, 0.016, 0, (double)NAN};
	static const enum verdict expected[] = {VERDICT_UNCLEAR, VERDICT_WORSE,   VERDICT_SAME,
						VERDICT_WORSE,   VERDICT_INVALID, VERDICT_UNCLEAR};
	struct judged_ratio judged[ARRAY_LENGTH(worse)];
	struct judged_ratio *family[ARRAY_LENGTH(worse)];
	struct error error = {0};

	for (size_t i = 0; i < ARRAY_LENGTH(worse); i++) {
		judged[i] = i == 2 ? latency(0.99, 1.01) : latency(1.1, 1.2);
		judged[i].worse = worse[i];
		judged[i].better = 1;
		family[i] = &judged[i];
	}
	judged[4].is_invalid = true;
	judged[5].low = judged[5].high = (double)NAN;
	assert_int_equal(verdict_judge(family, ARRAY_LENGTH(worse), &error), 0);
	for (size_t i = 0; i < ARRAY_LENGTH(worse); i++)
		assert_int_equal(judged[i].verdict, expected[i]);
	assert_near(judged[1].worse, 0.048, 1e-12);
	assert_near(judged[0].worse, 0.052, 1e-12);
	assert_near(judged[1].better, 1, 0);
}

/* Better and worse are two families. */
static void test_directions(void **unused)
{
	struct judged_ratio more = latency(1.1, 1.2);
	struct judged_ratio less = latency(0.8, 0.9);
	struct judged_ratio *const family[] = {&more, &less};
	struct error error = {0};

	more.worse = less.better = 0.025;
	more.better = less.worse = 1;
	assert_int_equal(verdict_judge(family, 2, &error), 0);
	assert_int_equal(more.verdict, VERDICT_WORSE);
	assert_int_equal(less.verdict, VERDICT_BETTER);
	more.worse = less.better = 0.026;
	assert_int_equal(verdict_judge(family, 2, &error), 0);
	assert_int_equal(more.verdict, VERDICT_UNCLEAR);
	assert_int_equal(less.verdict, VERDICT_UNCLEAR);
}

static void test_worst(void **unused)
{
	size_t counts[VERDICTS] = {0};

	assert_int_equal(verdict_worst(counts), VERDICT_INVALID);
	counts[VERDICT_BETTER] = 3;
	assert_int_equal(verdict_worst(counts), VERDICT_BETTER);
	counts[VERDICT_SAME] = 1;
	assert_int_equal(verdict_worst(counts), VERDICT_SAME);
	counts[VERDICT_UNCLEAR] = 1;
	assert_int_equal(verdict_worst(counts), VERDICT_UNCLEAR);
	counts[VERDICT_INVALID] = 1;
	assert_int_equal(verdict_worst(counts), VERDICT_INVALID);
	counts[VERDICT_WORSE] = 1;
	assert_int_equal(verdict_worst(counts), VERDICT_WORSE);
}

/*
 * The bounds 0.018 and 2.977 are a factor of 165.39 apart, each 12.86 from the middle: only a ratio
 * beyond 1.05 * 12.86 = 13.50 would have put the interval above 1.05.
 */
static void test_detectable(void **unused)
{
	struct judged_ratio judged = latency(0.018, 2.977);
	char text[256];

	judged.verdict = verdict_of(&judged);
	assert_near(verdict_detectable(&judged), 12.5033, 1e-3);
	judged.ratio = 0.230;
	verdict_describe(text, sizeof(text), &judged);
	assert_string_equal(text, "77.0 % less (-98.2 to +197.7 %); the smallest difference that "
				  "the data could have shown is 1251 %");
	verdict_cell(text, sizeof(text), &judged);
	assert_string_equal(text, "unclear (detects 1251 %)");
	/* With steps of 50 %, the smallest is 1.5 * 12.86 = 19.29. */
	judged.resolution = 0.5;
	assert_near(verdict_detectable(&judged), 18.2904, 1e-3);
	judged.reach = (double)NAN;
	assert_true(isnan(verdict_detectable(&judged)));
	verdict_cell(text, sizeof(text), &judged);
	assert_string_equal(text, "unclear");
	judged.low = judged.high = (double)NAN;
	verdict_describe(text, sizeof(text), &judged);
	assert_string_equal(text, "77.0 % less; there are too few runs to show any difference");
}

static void test_sentences(void **unused)
{
	struct judged_ratio judged = latency(1.08, 1.12);
	size_t counts[VERDICTS] = {[VERDICT_BETTER] = 5,
				   [VERDICT_SAME] = 4,
				   [VERDICT_UNCLEAR] = 2,
				   [VERDICT_WORSE] = 1};
	char text[256];

	judged.ratio = 1.098;
	judged.verdict = verdict_of(&judged);
	verdict_describe(text, sizeof(text), &judged);
	assert_string_equal(text, "9.8 % more (+8.0 to +12.0 %)");
	verdict_cell(text, sizeof(text), &judged);
	assert_string_equal(text, "worse");
	verdict_list(text, sizeof(text), counts);
	assert_string_equal(text, "1 worse, 2 unclear, 4 same, 5 better");
	memset(counts, 0, sizeof(counts));
	verdict_list(text, sizeof(text), counts);
	assert_string_equal(text, "nothing");
	assert_string_equal(verdict_name(VERDICT_INVALID), "invalid");
}

static void test_no_memory(void **unused)
{
	struct judged_ratio judged = latency(1.1, 1.2);
	struct judged_ratio *const family[] = {&judged};
	int failing = 0;
	int code;

	do {
		struct error error = {0};

		allocations = failing++;
		code = verdict_judge(family, 1, &error);
		allocations = -1;
		assert_int_equal(code, error.code);
	} while (code == -ENOMEM);
	assert_int_equal(code, 0);
	assert_true(failing > 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_intervals),       cmocka_unit_test(test_thresholds),
		cmocka_unit_test(test_steps_of_values), cmocka_unit_test(test_family),
		cmocka_unit_test(test_directions),      cmocka_unit_test(test_worst),
		cmocka_unit_test(test_detectable),      cmocka_unit_test(test_sentences),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
