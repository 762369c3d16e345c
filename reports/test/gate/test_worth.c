/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "core/base/compiler.h"
#include "core/test/lib/check.h"
#include "reports/gate/calibration.h"
#include "reports/result/banner.h"

#define ROUNDS 12UL
#define GATES  5UL

static struct error error;

/* A case of a latency: the head is so many times as slow in the rounds from one on. */
static void record(struct calibration_dose *dose, size_t count, double factor, size_t from)
{
	struct gate_record *gate = &dose->gate;

	gate->floors[GATE_MEDIAN] = gate->floors[GATE_BANDWIDTH] = 0.05;
	gate->floors[GATE_TAIL] = (double)NAN;
	gate->n_cases = 1;
	gate->cases = calloc(1, sizeof(*gate->cases));
	snprintf(gate->cases[0].id, sizeof(gate->cases[0].id), "send/lat/64/poll");
	assert_int_equal(gate_reserve(gate, count, &error), 0);
	gate->n_rounds = count;
	for (size_t i = 0; i < count; i++) {
		double *const *values = gate->cases[0].figures[GATE_MEDIAN].values;
		/* Some noise of 1 per cent, as far in one direction as in the other. */
		double noise = 1 + 0.01 * ((double)(i % 3) - 1);

		values[GATE_BASE][i] = 1000;
		values[GATE_HEAD][i] = 1000 * noise * (i >= from ? factor : 1);
	}
}

/* None has a round of another one: of 60 rounds there are five gates of twelve. */
static void test_equal(void **unused)
{
	struct calibration *calibration = calloc(1, sizeof(*calibration));

	calibration->rounds = ROUNDS;
	calibration->n_doses = 1;
	record(&calibration->doses[0], ROUNDS * (GATES + 1) + 11, 1, 0);
	assert_int_equal(calibration_judge(calibration, &error), 0);
	assert_int_equal(calibration->doses[0].count.gates, GATES);
	assert_int_equal(calibration->doses[0].count.regressed, 0);
	assert_int_equal(calibration->doses[0].count.invalid, 0);
	assert_near(calibration->doses[0].planted[0], 1, 0.001);
	calibration_close(calibration);
	free(calibration);
}

/* Of an even number of rounds it is in the middle of the two in the middle. */
static void test_planted_in_two(void **unused)
{
	struct calibration *calibration = calloc(1, sizeof(*calibration));

	calibration->rounds = ROUNDS;
	calibration->n_doses = 1;
	record(&calibration->doses[0], 2, 1.2, 1);
	assert_int_equal(calibration_judge(calibration, &error), 0);
	assert_near(calibration->doses[0].planted[0], (0.99 + 1.2) / 2, 1e-9);
	calibration_close(calibration);
	free(calibration);
}

/* Each has a second time of its own: five gates take ten times twelve rounds. */
static void test_worse(void **unused)
{
	struct calibration *calibration = calloc(1, sizeof(*calibration));

	calibration->rounds = ROUNDS;
	calibration->n_doses = 2;
	record(&calibration->doses[0], 2 * ROUNDS * GATES, 1.2, 0);
	/* No room for the second time of the last one. */
	record(&calibration->doses[1], ROUNDS * 3, 1.2, 0);
	assert_int_equal(calibration_judge(calibration, &error), 0);
	assert_int_equal(calibration->doses[0].count.gates, GATES);
	assert_int_equal(calibration->doses[0].count.regressed, GATES);
	assert_int_equal(calibration->doses[0].found[0], GATES);
	assert_near(calibration->doses[0].planted[0], 1.2, 0.001);
	assert_int_equal(calibration->doses[1].count.gates, 1);
	calibration_close(calibration);
	free(calibration);
}

/* What is slower in the first twelve rounds alone is so once, and not twice. */
static void test_not_confirmed(void **unused)
{
	struct calibration *calibration = calloc(1, sizeof(*calibration));

	calibration->rounds = ROUNDS;
	calibration->n_doses = 1;
	record(&calibration->doses[0], ROUNDS * 4, 1 / 1.2, ROUNDS);
	for (size_t i = 0; i < ROUNDS * 4; i++)
		calibration->doses[0].gate.cases[0].figures[GATE_MEDIAN].values[GATE_HEAD][i] *=
			1.2;
	assert_int_equal(calibration_judge(calibration, &error), 0);
	assert_int_equal(calibration->doses[0].count.gates, 2);
	assert_int_equal(calibration->doses[0].count.regressed, 0);
	assert_int_equal(calibration->doses[0].count.inconclusive, 1);
	calibration_close(calibration);
	free(calibration);
}

static double *values_of(struct calibration *calibration, enum gate_side arm)
{
	return calibration->doses[0].gate.cases[0].figures[GATE_MEDIAN].values[arm];
}

/* A round that failed has another one, and whether there is room for it is no matter of verdicts. */
static void test_rounds_that_fail(void **unused)
{
	static const struct {
		size_t rounds;
		size_t recorded;
		size_t n_failed; /* from round 3 on, every other one */
		double factor;
		size_t gates;
		size_t regressed;
		size_t invalid;
	} rows[] = {
		{12, 24, 1, 1,   0, 0, 0},
		{12, 24, 1, 1.2, 0, 0, 0},
		{12, 25, 1, 1,   1, 0, 0},
		{12, 25, 1, 1.2, 1, 1, 0},
 /* Two of twelve are too many, and of 19 as well; of 20 they are not. */
		{12, 25, 2, 1,   1, 0, 1},
		{19, 39, 2, 1,   1, 0, 1},
		{20, 42, 2, 1,   1, 0, 0},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct calibration *calibration = calloc(1, sizeof(*calibration));

		calibration->rounds = rows[i].rounds;
		calibration->n_doses = 1;
		record(&calibration->doses[0], rows[i].recorded, rows[i].factor, 0);
		for (size_t j = 0; j < rows[i].n_failed; j++)
			values_of(calibration, GATE_HEAD)[3 + 2 * j] = (double)NAN;
		assert_int_equal(calibration_judge(calibration, &error), 0);
		assert_int_equal(calibration->doses[0].count.gates, rows[i].gates);
		assert_int_equal(calibration->doses[0].count.regressed, rows[i].regressed);
		assert_int_equal(calibration->doses[0].count.invalid, rows[i].invalid);
		calibration_close(calibration);
		free(calibration);
	}
}

static void test_there_and_back(void **unused)
{
	struct calibration *calibration = calloc(1, sizeof(*calibration));
	struct calibration *read = calloc(1, sizeof(*read));
	json_t *document;

	calibration->rounds = ROUNDS;
	calibration->n_doses = 1;
	snprintf(calibration->plant, sizeof(calibration->plant), "hand");
	record(&calibration->doses[0], 2 * ROUNDS * GATES, 1.2, 0);
	calibration->doses[0].percent = 20;
	calibration->doses[0].gate.cases[0].figures[GATE_MEDIAN].values[GATE_BASE][3] = (double)NAN;
	assert_int_equal(calibration_judge(calibration, &error), 0);
	document = calibration_make(calibration, "0.1.0");
	assert_non_null(document);
	assert_int_equal(calibration_read(read, document, &error), 0);
	json_decref(document);
	assert_int_equal(calibration_judge(read, &error), 0);
	assert_int_equal(read->rounds, ROUNDS);
	assert_near(read->doses[0].percent, 20, 0);
	assert_int_equal(read->doses[0].count.gates, calibration->doses[0].count.gates);
	assert_int_equal(read->doses[0].count.regressed, calibration->doses[0].count.regressed);
	assert_true(isnan(read->doses[0].gate.floors[GATE_TAIL]));
	calibration_close(calibration);
	calibration_close(read);
	free(calibration);
	free(read);
}

/* What would have made a gate invalid is told of what was recorded, then and later. */
static void test_faults(void **unused)
{
	struct calibration *calibration = calloc(1, sizeof(*calibration));
	struct calibration *read = calloc(1, sizeof(*read));
	json_t *document;
	char *text = NULL;
	size_t size = 0;
	FILE *out;

	calibration->rounds = ROUNDS;
	calibration->n_doses = 3;
	snprintf(calibration->plant, sizeof(calibration->plant), "hand");
	for (size_t i = 0; i < 3; i++)
		record(&calibration->doses[i], 2 * ROUNDS, 1 + (double)i / 1000, 0);
	calibration->doses[1].is_noisy = true;
	calibration->doses[2].has_outlier = true;
	calibration->doses[1].gate.banner = BANNER_SOFT;
	snprintf(calibration->doses[1].gate.invalid, sizeof(calibration->doses[1].gate.invalid),
		 "too hot");
	assert_int_equal(calibration_judge(calibration, &error), 0);
	document = calibration_make(calibration, "0.1.0");
	assert_int_equal(calibration_read(read, document, &error), 0);
	json_decref(document);
	assert_int_equal(calibration_judge(read, &error), 0);
	out = open_memstream(&text, &size);
	calibration_table(out, read);
	fclose(out);
	assert_contains(text, BANNER_SOFT "\ngates of 1 cases and 12 rounds");
	assert_contains(text, "\n! +0 %, noisy: too hot: a gate would have been INVALID\n");
	assert_contains(text, "\n+0 %, outlier ");
	free(text);
	calibration_close(calibration);
	calibration_close(read);
	free(calibration);
	free(read);
}

static void test_what_is_none(void **unused)
{
	static const struct {
		const char *text;
		const char *why;
	} rows[] = {
		{"{}",										  "no document of verbmark.gate-check/1"             },
		{"{\"schema\":\"verbmark.gate-check/1\"}",                                              "rounds"                                           },
		{"{\"schema\":\"verbmark.gate-check/1\",\"rounds\":3,\"plant\":\"x\",\"doses\":[]}",
		 "gates of 3 rounds"														       },
		{"{\"schema\":\"verbmark.gate-check/1\",\"rounds\":12,\"plant\":\"x\",\"doses\":[1]}",
		 "dose 1: "																},
		{"{\"schema\":\"verbmark.gate-check/1\",\"rounds\":12,\"plant\":\"x\",\"doses\":["
		 "{\"percent\":0,\"noisy\":false,\"record\":{\"floors\":{},\"rounds\":[1,2],"
		 "\"cases\":[{\"id\":\"a\",\"metric\":\"bw\",\"iterations\":1,\"resolution_ns\":0,"
		 "\"values\":{\"bytes_per_s\":{\"base\":[1],\"head\":[1,2]}}}]}}]}",   "dose 1: case 1: bytes_per_s: 1 values of 2 rounds"},
		{"{\"schema\":\"verbmark.gate-check/1\",\"rounds\":12,\"plant\":\"x\",\"doses\":["
		 "{\"percent\":0,\"noisy\":false,\"record\":{\"floors\":{},\"rounds\":[1],"
		 "\"cases\":[{\"id\":\"a\",\"metric\":\"bw\",\"iterations\":1,\"resolution_ns\":0,"
		 "\"values\":{\"bytes_per_s\":{\"base\":[\"1\"],\"head\":[1]}}}]}}]}", "value 1 is no number"                             },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct calibration *calibration = calloc(1, sizeof(*calibration));
		json_t *document = json_loads(rows[i].text, 0, NULL);

		assert_non_null(document);
		error = (struct error){0};
		assert_true(calibration_read(calibration, document, &error) < 0);
		assert_contains(error.text, rows[i].why);
		calibration_close(calibration);
		free(calibration);
		json_decref(document);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal),          cmocka_unit_test(test_worse),
		cmocka_unit_test(test_planted_in_two), cmocka_unit_test(test_not_confirmed),
		cmocka_unit_test(test_there_and_back), cmocka_unit_test(test_faults),
		cmocka_unit_test(test_what_is_none),   cmocka_unit_test(test_rounds_that_fail),
	};

	return cmocka_run_group_tests_name("worth", tests, NULL, NULL);
}
