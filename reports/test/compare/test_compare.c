/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <float.h>

#include "reports/compare/sentences.h"
#include "reports/test/lib/comparing.h"
#include "reports/test/lib/failing.h"
#include "reports/test/lib/loads.h"

/* Expected figures come from another program: Welch's t of logarithms. */
static void test_differs(void **unused)
{
	const struct compare_cell *cell;

	add_runs(COMPARE_BASE, "send/lat/64/poll", slow, 3);
	add_runs(COMPARE_NEW, "send/lat/64/poll", slower, 3);
	assert_int_equal(compare_judge(&comparison, &error), 0);
	assert_int_equal(comparison.n_cells, 1);
	cell = &comparison.cells[0];
	assert_string_equal(cell->figure->key, "p50_ns");
	assert_near(cell->ratio.base, 1003.25605328, 1e-7);
	assert_near(cell->ratio.now, 1106.53683498, 1e-7);
	assert_near(cell->ratio.ratio, 1.10294558539, 1e-10);
	assert_near(cell->ratio.low, 1.06041406219, 1e-10);
	assert_near(cell->ratio.high, 1.14718298042, 1e-10);
	/* Against a true ratio of 1.05: t = 3.533, 3.836 degrees of freedom, one-sided. */
	assert_near(cell->chance, 0.0129495649, 1e-8);
	assert_near(cell->corrected, cell->chance, 0);
	assert_int_equal(cell->judged.verdict, VERDICT_WORSE);
	assert_int_equal(comparison.n_verdicts[VERDICT_WORSE], 1);
	assert_false(compare_has_passed(&comparison));
	/* Too few messages for a p99: it is listed as unknown. */
	assert_int_equal(comparison.n_unknown, 1);
	assert_string_equal(comparison.unknown[0].line->id, "send/lat/64/poll");
	assert_string_equal(compare_figure(comparison.unknown[0].number)->key, "p99_ns");
	assert_string_equal(comparison.unknown[0].why,
			    "unknown in 3 of 3 runs of BASE and 3 of 3 runs of NEW");
	assert_true(compare_is_apart(&comparison));
}

/* With the sides swapped the verdict is better, and for rates it is the opposite. */
static void test_directions(void **unused)
{
	add_runs(COMPARE_BASE, "send/lat/64/poll", slower, 3);
	add_runs(COMPARE_NEW, "send/lat/64/poll", slow, 3);
	assert_int_equal(compare_judge(&comparison, &error), 0);
	assert_int_equal(comparison.cells[0].judged.verdict, VERDICT_BETTER);
	compare_close(&comparison);
	minute = 0;
	add_runs(COMPARE_BASE, "send/bw/64/poll", slower, 3);
	add_runs(COMPARE_NEW, "send/bw/64/poll", slow, 3);
	assert_int_equal(compare_judge(&comparison, &error), 0);
	assert_int_equal(comparison.cells[0].judged.verdict, VERDICT_WORSE);
	compare_close(&comparison);
	minute = 0;
	add_runs(COMPARE_BASE, "send/bw/64/poll", slow, 3);
	add_runs(COMPARE_NEW, "send/bw/64/poll", slower, 3);
	assert_int_equal(compare_judge(&comparison, &error), 0);
	assert_int_equal(comparison.cells[0].judged.verdict, VERDICT_BETTER);
	assert_true(compare_has_passed(&comparison));
}

static void test_same(void **unused)
{
	static const double base[] = {2000, 2010, 1990};
	static const double now[] = {2002, 2012, 1999};

	add_runs(COMPARE_BASE, "send/lat/64/poll", base, 3);
	add_runs(COMPARE_NEW, "send/lat/64/poll", now, 3);
	assert_int_equal(compare_judge(&comparison, &error), 0);
	assert_int_equal(comparison.cells[0].judged.verdict, VERDICT_SAME);
	/* Without p99, not every figure is compared. */
	assert_false(compare_has_passed(&comparison));
	compare_close(&comparison);
	minute = 0;
	add_runs(COMPARE_BASE, "send/bw/64/poll", base, 3);
	add_runs(COMPARE_NEW, "send/bw/64/poll", now, 3);
	assert_int_equal(compare_judge(&comparison, &error), 0);
	assert_true(compare_has_passed(&comparison));
}

/*
 * A ratio of 1.0069; by another program: standard error 0.025 with 3.16 degrees of freedom, for
 * which Student's t is 3.092. The interval is 0.932..1.088, and 1.05 * exp(3.092 * 0.025) = 1.134.
 */
static void test_unclear(void **unused)
{
	static const double base[] = {2000, 2100, 1950};
	static const double now[] = {2010, 2080, 2000};
	const struct compare_cell *cell;
	char text[COMPARE_TEXT];

	add_runs(COMPARE_BASE, "send/bw/64/poll", base, 3);
	add_runs(COMPARE_NEW, "send/bw/64/poll", now, 3);
	assert_int_equal(compare_judge(&comparison, &error), 0);
	cell = &comparison.cells[0];
	assert_int_equal(cell->judged.verdict, VERDICT_UNCLEAR);
	assert_near(cell->ratio.ratio, 1.0069359089, 1e-9);
	assert_near(cell->chance, 0.9154012075, 1e-8);
	assert_near(verdict_detectable(&cell->judged), 0.134, 1e-3);
	assert_int_equal(comparison.cells[1].judged.verdict, VERDICT_UNCLEAR);
	assert_int_equal(comparison.n_verdicts[VERDICT_UNCLEAR], 1);
	assert_false(compare_has_passed(&comparison));
	compare_sum(&comparison, text);
	assert_string_equal(text, "unclear: 1 figure of 1 case: 1 unclear; 0 cases not compared");
}

/* A ratio of 0.23 within 0.018..3, as on a busy machine, is not the same. */
static void test_wide(void **unused)
{
	static const double base[] = {1000, 9000};
	static const double now[] = {500, 950};

	add_runs(COMPARE_BASE, "send/lat/64/poll", base, 2);
	add_runs(COMPARE_NEW, "send/lat/64/poll", now, 2);
	assert_int_equal(compare_judge(&comparison, &error), 0);
	assert_near(comparison.cells[0].ratio.ratio, sqrt(500.0 * 950 / 9e6), 1e-12);
	assert_true(comparison.cells[0].ratio.high > 2);
	assert_int_equal(comparison.cells[0].judged.verdict, VERDICT_UNCLEAR);
}

/* Fills a histogram with values of a clock with that step, around the middle. */
static void set_steps(struct result_case *line, uint64_t middle, uint64_t step)
{
	line->latency = calloc(1, sizeof(*line->latency));
	assert_non_null(line->latency);
	hist_init(line->latency);
	for (uint64_t i = 0; i < 50; i++)
		hist_add(line->latency, middle + (i % 5) * step - 2 * step);
}

/*
 * With steps of 10 ns, 80 and 90 are one step apart in all runs, so the true difference may be 1 ns
 * or 19 ns. The step comes from the histogram or the document. With steps of 1 ns it is a
 * difference.
 */
static void test_steps(void **unused)
{
	static const struct {
		uint64_t step;
		double clock;
		double now;
		enum verdict verdict;
	} rows[] = {
		{10, 0,  90,  VERDICT_UNCLEAR},
                {1,  10, 90,  VERDICT_UNCLEAR},
		{1,  0,  90,  VERDICT_WORSE  },
                {10, 1,  120, VERDICT_WORSE  },
		{10, 0,  80,  VERDICT_UNCLEAR},
                {1,  0,  80,  VERDICT_SAME   },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		reset(NULL);
		for (int run = 0; run < 6; run++) {
			double value = run < 3 ? 80 : rows[i].now;
			struct result result;

			make(&result, &(struct row){"send/lat/64/poll", value, RESULT_COMPLETE}, 1);
			set_steps(result.cases, (uint64_t)value, rows[i].step);
			result.clock_resolution_ns = rows[i].clock;
			assert_int_equal(
				compare_add(&comparison, run > 2, &result, "a.json", &error), 0);
		}
		assert_int_equal(compare_judge(&comparison, &error), 0);
		assert_int_equal(comparison.cells[0].judged.verdict, rows[i].verdict);
		compare_close(&comparison);
	}
}

/* Makes an imported result: a mean without samples, or a rate, in steps as printed. */
static void make_printed(struct result *result, const char *id, double value, double step)
{
	struct result_case *line;

	make(result, &(struct row){id, value, RESULT_COMPLETE}, 1);
	line = result->cases;
	line->is_imported = true;
	for (size_t i = 0; i < line->n_trials; i++) {
		line->trials[i].latency[1] = value;
		line->trials[i].latency[3] = (double)NAN;
	}
	result->clock_resolution_ns = step;
	json_object_set_new(line->parameters, "imported", json_pack("[{s:f}]", "rate_step", step));
}

/*
 * One step of the last digit is 1.7 % of a mean of 0.57 us, and 1.6 % of 63 messages. With two runs
 * per side, the interval is 4.303 / sqrt(12) = 1.24 steps in either direction.
 */
static void test_digits(void **unused)
{
	static const struct {
		const char *id;
		double base;
		double now;
		double step;
		enum verdict verdict;
	} rows[] = {
		{"send/lat/64/poll", 570, 580, 10, VERDICT_SAME   },
		{"send/lat/64/poll", 570, 590, 10, VERDICT_UNCLEAR},
		{"send/lat/64/poll", 570, 590, 1,  VERDICT_SAME   },
		{"send/lat/64/poll", 570, 600, 10, VERDICT_UNCLEAR},
		{"send/lat/64/poll", 570, 600, 1,  VERDICT_WORSE  },
		{"send/lat/64/poll", 570, 620, 10, VERDICT_WORSE  },
		{"send/bw/1m/poll",  63,  64,  1,  VERDICT_SAME   },
		{"send/bw/1m/poll",  63,  67,  1,  VERDICT_UNCLEAR},
		{"send/bw/1m/poll",  63,  67,  0,  VERDICT_BETTER },
		{"send/bw/1m/poll",  63,  59,  0,  VERDICT_WORSE  },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		reset(NULL);
		for (int run = 0; run < 4; run++) {
			struct result result;

			make_printed(&result, rows[i].id, run < 2 ? rows[i].base : rows[i].now,
				     rows[i].step);
			assert_int_equal(
				compare_add(&comparison, run > 1, &result, "a.json", &error), 0);
		}
		assert_int_equal(compare_judge(&comparison, &error), 0);
		assert_int_equal(comparison.cells[0].judged.verdict, rows[i].verdict);
		compare_close(&comparison);
	}
}

/* A difference of 0.7 % is certain, but below the threshold. */
static void test_threshold(void **unused)
{
	static const double base[] = {1e6, 1.001e6, 1.002e6};
	static const double now[] = {1.007e6, 1.008e6, 1.009e6};

	add_runs(COMPARE_BASE, "send/bw/64/poll", base, 3);
	add_runs(COMPARE_NEW, "send/bw/64/poll", now, 3);
	assert_int_equal(compare_judge(&comparison, &error), 0);
	assert_true(comparison.cells[0].ratio.low > 1.004);
	/* 0.9999995729 comes from another program. */
	assert_near(comparison.cells[0].corrected, 0.9999995729, 1e-9);
	assert_int_equal(comparison.cells[0].judged.verdict, VERDICT_SAME);
	/* Bytes and messages are one test. */
	assert_int_equal(comparison.n_cells, 2);
	assert_int_equal(comparison.n_tests, 1);
	assert_true(comparison.cells[1].is_repeat);
	assert_near(comparison.cells[1].corrected, comparison.cells[0].corrected, 0);
	assert_near(comparison.cells[0].ratio.base, 64 * comparison.cells[1].ratio.base, 1e-4);
	assert_int_equal(comparison.n_verdicts[VERDICT_SAME], 1);
}

static void test_unknown(void **unused)
{
	add_runs(COMPARE_BASE, "send/lat/64/poll", slow, 3);
	add_runs(COMPARE_NEW, "send/lat/64/poll", slower, 1);
	assert_int_equal(compare_judge(&comparison, &error), 0);
	assert_int_equal(comparison.cells[0].judged.verdict, VERDICT_UNCLEAR);
	assert_near(comparison.cells[0].ratio.ratio, 1100 / 1003.25605328, 1e-9);
	assert_true(isnan(comparison.cells[0].corrected));
	assert_int_equal(comparison.n_tests, 0);
	assert_false(compare_has_passed(&comparison));
}

/* A figure that would be worse on its own is unclear as one of thirty. */
static void test_families(void **unused)
{
	for (size_t run = 0; run < 6; run++) {
		struct row rows[30];
		char ids[ARRAY_LENGTH(rows)][32];

		for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
			snprintf(ids[i], sizeof(ids[i]), "send/lat/%zu/poll", i);
			rows[i] = (struct row){ids[i],
					       i < 4 && run > 2 ? slower[run - 3] : slow[run % 3],
					       RESULT_COMPLETE};
		}
		assert_int_equal(add(run > 2, rows, ARRAY_LENGTH(rows)), 0);
	}
	assert_int_equal(compare_judge(&comparison, &error), 0);
	assert_int_equal(comparison.n_tests, 30);
	/* 30 times 0.0129 is above 5 %. */
	assert_near(comparison.cells[0].corrected, 30 * 0.0129495649, 1e-7);
	assert_true(comparison.cells[0].ratio.low > 1.06);
	assert_int_equal(comparison.n_verdicts[VERDICT_UNCLEAR], 4);
	assert_int_equal(comparison.n_verdicts[VERDICT_SAME], 26);
	/* One of 30 tests at 5 % is a test at 0.17 %, which needs more than one at 2.5 %. */
	assert_true(verdict_detectable(&comparison.cells[0].judged) > 1.05 * 1.147 / 1.103 - 1);
}

static void test_gaps(void **unused)
{
	static const struct row base[] = {
		{"send/lat/1/poll", 100, RESULT_COMPLETE   },
		{"send/lat/2/poll", 100, RESULT_FAILED     },
		{"send/lat/3/poll", 100, RESULT_SKIPPED    },
		{"send/lat/4/poll", 100, RESULT_COMPLETE   },
		{"send/lat/5/poll", 100, RESULT_INTERRUPTED},
	};
	static const struct row now[] = {
		{"send/lat/0/poll", 100, RESULT_COMPLETE},
		{"send/lat/2/poll", 100, RESULT_COMPLETE},
		{"send/lat/3/poll", 100, RESULT_SKIPPED },
		{"send/lat/4/poll", 100, RESULT_COMPLETE},
	};

	assert_int_equal(add(COMPARE_BASE, base, 5), 0);
	assert_int_equal(add(COMPARE_NEW, now, 4), 0);
	assert_int_equal(add(COMPARE_NEW, now, 3), 0);
	snprintf(comparison.sides[COMPARE_BASE].runs[0].result.cases[1].error, 32, "gone");
	assert_int_equal(compare_judge(&comparison, &error), 0);
	assert_int_equal(comparison.n_gaps, 6);
	check_gap(0, "send/lat/1/poll", "missing in all 2 runs of NEW", false);
	check_gap(1, "send/lat/2/poll", "failed in BASE: gone", false);
	check_gap(2, "send/lat/3/poll", "skipped in BASE; skipped in all 2 runs of NEW", false);
	check_gap(3, "send/lat/4/poll", "missing in 1 of 2 runs of NEW", true);
	check_gap(4, "send/lat/5/poll", "interrupted in BASE; missing in all 2 runs of NEW", false);
	check_gap(5, "send/lat/0/poll", "missing in BASE", false);
	assert_true(comparison.gaps[2].is_excused);
	assert_false(comparison.gaps[0].is_excused);
	assert_int_equal(comparison.n_cells, 1);
	assert_string_equal(comparison.cells[0].line->id, "send/lat/4/poll");
	assert_int_equal(comparison.cells[0].n_runs[COMPARE_NEW], 1);
}

static void test_nothing_in_common(void **unused)
{
	add_runs(COMPARE_BASE, "send/lat/64/poll", slow, 1);
	add_runs(COMPARE_NEW, "send/lat/65/poll", slow, 1);
	assert_int_equal(compare_judge(&comparison, &error), -ENODATA);
	assert_int_equal(comparison.n_gaps, 2);
}

/* Not even --force compares different kinds of latency. */
static void test_two_kinds(void **unused)
{
	comparison.is_forced = true;
	add_runs(COMPARE_BASE, "write/lat/64/poll", slow, 2);
	add_runs(COMPARE_NEW, "write/lat/64/poll", slower, 2);
	comparison.sides[COMPARE_NEW].runs[1].result.cases[0].kind = RESULT_COMPLETION;
	assert_int_equal(compare_judge(&comparison, &error), -ENODATA);
	check_gap(
		0, "write/lat/64/poll",
		"its latency is half in one run and completion in another: different kinds cannot "
		"be compared",
		false);
	assert_int_equal(comparison.n_cells, 0);
}

/* If one trial lacks a median, the mean is compared instead. */
static void test_few_messages(void **unused)
{
	for (int i = 0; i < 4; i++) {
		struct result result;

		make(&result, &(struct row){"connect/lat/1/poll", slow[0], RESULT_COMPLETE}, 1);
		result.cases[0].trials[0].latency[3] = i ? 5 : (double)NAN;
		for (size_t j = 0; j < TRIALS; j++)
			result.cases[0].trials[j].latency[1] = 100 + (double)i;
		assert_int_equal(compare_add(&comparison, i > 1, &result, "a.json", &error), 0);
	}
	assert_int_equal(compare_judge(&comparison, &error), 0);
	assert_int_equal(comparison.n_cells, 1);
	assert_string_equal(comparison.cells[0].figure->key, "mean_ns");
	assert_int_equal(comparison.n_unknown, 1);
	assert_string_equal(compare_figure(comparison.unknown[0].number)->key, "p99_ns");
}

static void test_cpu(void **unused)
{
	comparison.with_cpu = true;
	add_runs(COMPARE_BASE, "send/lat/64/poll", slow, 2);
	add_runs(COMPARE_NEW, "send/lat/64/poll", slower, 2);
	assert_int_equal(compare_judge(&comparison, &error), 0);
	assert_int_equal(comparison.n_cells, 2);
	assert_string_equal(comparison.cells[1].figure->key, "client_cpu_ns");
	assert_near(comparison.cells[1].ratio.now, 2, 1e-12);
	assert_int_equal(comparison.cells[1].judged.verdict, VERDICT_SAME);
	/* The server's CPU time is unknown. */
	assert_int_equal(comparison.n_unknown, 2);
	assert_string_equal(compare_figure(comparison.unknown[1].number)->key, "server_cpu_ns");
}

static void test_twice(void **unused)
{
	add_runs(COMPARE_BASE, "send/lat/64/poll", slow, 1);
	minute = 0;
	add_runs(COMPARE_NEW, "send/lat/64/poll", slow, 1);
	minute = 0;
	assert_int_equal(
		add(COMPARE_BASE, &(struct row){"send/lat/64/poll", slow[0], RESULT_COMPLETE}, 1),
		-EEXIST);
	assert_string_equal(error.text, "a.json and a.json are the same run");
	minute = 0;
	/* The same second, but other figures: another run. */
	assert_int_equal(
		add(COMPARE_BASE, &(struct row){"send/lat/64/poll", 1, RESULT_COMPLETE}, 1), 0);
}

/* A run may be compared with itself, but not be on both sides among several. */
static void test_both_sides(void **unused)
{
	add_runs(COMPARE_BASE, "send/lat/64/poll", slow, 1);
	assert_false(compare_is_itself(&comparison));
	minute = 0;
	add_runs(COMPARE_NEW, "send/lat/64/poll", slow, 1);
	assert_true(compare_is_itself(&comparison));
	assert_int_equal(compare_judge(&comparison, &error), 0);
	add_runs(COMPARE_NEW, "send/lat/64/poll", slower, 1);
	assert_false(compare_is_itself(&comparison));
	assert_int_equal(compare_judge(&comparison, &error), -EEXIST);
	assert_string_equal(error.text, "a.json of BASE and a.json of NEW are the same run");
}

static void add_load(enum compare_side side, double rate, double took_ns, bool is_saturated)
{
	struct load_row row = {rate, took_ns, is_saturated};
	struct result result;

	loads_init(&result, &row, 1);
	snprintf(result.cases[0].id, sizeof(result.cases[0].id), "send/load/64/poll/rate50%%");
	json_object_set_new(result.cases[0].parameters, "rate", json_string("50%"));
	snprintf(result.started, sizeof(result.started), "2001-02-03T04:%02d:06Z", minute++);
	assert_int_equal(compare_add(&comparison, side, &result, "a.json", &error), 0);
}

/* 50 % of different maxima are different rates; a rate that was kept is not a result. */
static void test_loads(void **unused)
{
	for (int saturated = 0; saturated < 2; saturated++) {
		reset(NULL);
		add_load(COMPARE_BASE, 100000, 1500, false);
		add_load(COMPARE_NEW, 101900, 1600, saturated);
		assert_int_equal(compare_judge(&comparison, &error), 0);
		assert_int_equal(comparison.n_gaps, 0);
		assert_int_equal(comparison.n_cells, 2 + saturated);
		assert_string_equal(comparison.cells[0].figure->key, "p50_ns");
		assert_string_equal(comparison.cells[1].figure->key, "p99_ns");
		compare_close(&comparison);
	}
	reset(NULL);
	add_load(COMPARE_BASE, 100000, 1500, false);
	add_load(COMPARE_NEW, 102100, 1500, false);
	assert_int_equal(compare_judge(&comparison, &error), -ENODATA);
	check_gap(0, "send/load/64/poll/rate50%",
		  "its rate differs between runs: 100000 and 102100 messages/s", false);
}

/* Alternating or overlapping runs are not apart. */
static void test_apart(void **unused)
{
	add_runs(COMPARE_BASE, "send/lat/64/poll", slow, 1);
	add_runs(COMPARE_NEW, "send/lat/64/poll", slow, 1);
	assert_true(compare_is_apart(&comparison));
	add_runs(COMPARE_BASE, "send/lat/64/poll", slow, 1);
	assert_false(compare_is_apart(&comparison));
}

static void test_ends(void **unused)
{
	static const char *const wanted[] = {
		"the client: device is hardware in a.json and soft in a.json",
		"the server: link layer is Ethernet in a.json and InfiniBand in a.json",
		"the client: rate in Mb/s is 100000 in a.json and 1000 in a.json",
		"the client: MTU is 4096 in a.json and 256 in a.json",
		"the clock is tsc in a.json and monotonic_raw in a.json",
	};

	add_runs(COMPARE_BASE, "send/lat/64/poll", slow, 1);
	for (size_t i = 0; i < ARRAY_LENGTH(wanted); i++) {
		struct result result;

		make(&result, &(struct row){"send/lat/64/poll", 100, RESULT_COMPLETE}, 1);
		result.client.kind = i == 0 ? "soft" : "hardware";
		result.server.link_layer = i == 1 ? "InfiniBand" : "Ethernet";
		result.client.rate_mbps = i == 2 ? 1000 : 100000;
		result.client.mtu = i == 3 ? 256 : 4096;
		result.clock = i == 4 ? "monotonic_raw" : "tsc";
		assert_int_equal(compare_add(&comparison, COMPARE_NEW, &result, "a.json", &error),
				 -EXDEV);
		assert_string_equal(error.text, wanted[i]);
		error = (struct error){0};
	}
}

/* Any failing allocation is reported, and nothing leaks. */
static void test_no_memory(void **unused)
{
	static const struct row rows[] = {
		{"send/lat/64/poll", 100, RESULT_COMPLETE},
		{"send/bw/64/poll",  100, RESULT_COMPLETE},
		{"read/lat/64/poll", 100, RESULT_FAILED  },
	};
	int code = -ENOMEM;

	for (int failing = 0; code; failing++) {
		struct result results[4];

		assert_true(failing < 1000);
		reset(NULL);
		for (size_t i = 0; i < ARRAY_LENGTH(results); i++)
			make(&results[i], rows, ARRAY_LENGTH(rows));
		allocations = failing;
		code = 0;
		for (size_t i = 0; i < ARRAY_LENGTH(results) && !code; i++)
			code = compare_add(&comparison, i % 2, &results[i], "a.json", &error);
		if (!code)
			code = compare_judge(&comparison, &error);
		allocations = -1;
		assert_true(code == 0 || code == -ENOMEM);
		assert_int_equal(error.code, code);
		for (size_t i = 0; i < ARRAY_LENGTH(results); i++)
			result_finish(&results[i]);
		compare_close(&comparison);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_differs),
		TEST(test_same),
		TEST(test_directions),
		TEST(test_unclear),
		TEST(test_wide),
		TEST(test_threshold),
		TEST(test_unknown),
		TEST(test_families),
		TEST(test_gaps),
		TEST(test_two_kinds),
		TEST(test_nothing_in_common),
		TEST(test_few_messages),
		TEST(test_cpu),
		TEST(test_twice),
		TEST(test_apart),
		TEST(test_both_sides),
		TEST(test_ends),
		TEST(test_steps),
		TEST(test_no_memory),
		TEST(test_loads),
		TEST(test_digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
