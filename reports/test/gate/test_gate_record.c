/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "core/base/compiler.h"
#include "core/test/lib/check.h"
#include "reports/gate/record.h"

#define ASKED 12UL

static struct gate_record gate;
static struct error error;

static int open_gate(void **unused)
{
	gate = (struct gate_record){.asked = ASKED, .n_cases = 2};
	error = (struct error){0};
	gate.floors[GATE_MEDIAN] = gate.floors[GATE_BANDWIDTH] = 0.05;
	gate.floors[GATE_TAIL] = (double)NAN;
	gate.cases = calloc(gate.n_cases, sizeof(*gate.cases));
	assert_non_null(gate.cases);
	for (size_t i = 0; i < gate.n_cases; i++)
		snprintf(gate.cases[i].id, sizeof(gate.cases[i].id), "case %zu", i);
	return 0;
}

static int close_gate(void **unused)
{
	gate_close(&gate);
	return 0;
}

/* Runs more pairs of the cases that take part: factors are head / base, alternating. */
static void run(size_t count, const double factors[static 2][2])
{
	assert_int_equal(gate_reserve(&gate, gate.n_rounds + gate_due_most(count), &error), 0);
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < gate.n_cases; j++) {
			struct gate_case *line = &gate.cases[j];
			double *const *values = line->figures[GATE_MEDIAN].values;

			if (!gate_takes_part(&gate, false, j))
				continue;
			values[GATE_BASE][gate.n_rounds] = 1000;
			values[GATE_HEAD][gate.n_rounds] = 1000 * factors[j][i % 2];
			line->trials[GATE_BASE]++;
			line->trials[GATE_HEAD]++;
		}
		assert_int_equal(gate_add_round(&gate, false, count), count);
	}
	assert_int_equal(gate_judge(&gate, &error), 0);
}

/*
 * Alternating 0.9 and 1.1 decides nothing. With 12 more equal pairs, the bounds are the sixth from
 * either end, still 0.9 and 1.1; with another 24 they are the sixteenth, which is 1.
 */
static void test_repeats_unclear_cases(void **unused)
{
	static const double apart[2][2] = {
		{0.9, 1.1},
                {1,   1  }
        };
	static const double equal[2][2] = {
		{1, 1},
                {1, 1}
        };

	run(ASKED, apart);
	assert_int_equal(gate_end(&gate), VERDICT_UNCLEAR);
	assert_int_equal(gate_count_unclear(&gate), 1);
	assert_true(gate_takes_part(&gate, false, 0));
	assert_false(gate_takes_part(&gate, false, 1));
	gate.more_first = ASKED;
	run(ASKED, equal);
	assert_int_equal(gate.cells[0].finding.pairs, 2 * ASKED);
	assert_near(gate.cells[0].finding.judged.low, 0.9, 1e-12);
	assert_int_equal(gate_end(&gate), VERDICT_UNCLEAR);
	/* If the correction makes the other case unclear later, it still stays out. */
	gate.cells[1].verdict = VERDICT_UNCLEAR;
	assert_false(gate_takes_part(&gate, false, 1));
	assert_int_equal(gate_count_unclear(&gate), 1);
	gate.more_first = 3 * ASKED;
	run(2 * ASKED, equal);
	assert_int_equal(gate.n_rounds, 4 * ASKED);
	assert_int_equal(gate_end(&gate), VERDICT_SAME);
	assert_int_equal(gate_count_unclear(&gate), 0);
	/* The other case was decided at once and keeps its verdict. */
	assert_int_equal(gate.cells[1].finding.pairs, ASKED);
	assert_int_equal(gate.cells[1].verdict, VERDICT_SAME);
	assert_int_equal(gate_spare(&gate, false), 0);
}

/* A regression is confirmed by as many pairs as showed it. */
static void test_confirms_regression(void **unused)
{
	static const double first[2][2] = {
		{1, 1.3},
                {1, 1  }
        };
	static const double then[2][2] = {
		{1.3, 1.3},
                {1,   1  }
        };

	run(ASKED, first);
	assert_int_equal(gate_end(&gate), VERDICT_UNCLEAR);
	assert_int_equal(gate_again_due(&gate), ASKED);
	gate.more_first = ASKED;
	run(ASKED, then);
	gate.more_first = 3 * ASKED;
	run(2 * ASKED, then);
	assert_true(gate_has_failed(&gate, 0));
	assert_true(gate_takes_part(&gate, true, 0));
	assert_false(gate_takes_part(&gate, true, 1));
	assert_int_equal(gate_again_due(&gate), 4 * ASKED);
	/* Without confirmation it is not worse. */
	assert_int_equal(gate_end(&gate), VERDICT_UNCLEAR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_repeats_unclear_cases, open_gate, close_gate),
		cmocka_unit_test_setup_teardown(test_confirms_regression, open_gate, close_gate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
