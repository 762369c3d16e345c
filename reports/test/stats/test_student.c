/* SPDX-License-Identifier: MIT */
#include <float.h>

#include "core/base/compiler.h"
#include "core/test/lib/check.h"
#include "reports/stats/student.h"

/* Two-sided bounds at 5 %, 1 % and 0.1 %, as in textbooks. */
static void test_published_tables(void **unused)
{
	static const struct {
		size_t freedom;
		double bounds[3];
	} rows[] = {
		{1,   {12.706, 63.657, 636.619}},
                {2,   {4.303, 9.925, 31.599}   },
		{3,   {3.182, 5.841, 12.924}   },
                {4,   {2.776, 4.604, 8.610}    },
		{5,   {2.571, 4.032, 6.869}    },
                {6,   {2.447, 3.707, 5.959}    },
		{7,   {2.365, 3.499, 5.408}    },
                {8,   {2.306, 3.355, 5.041}    },
		{9,   {2.262, 3.250, 4.781}    },
                {10,  {2.228, 3.169, 4.587}    },
		{15,  {2.131, 2.947, 4.073}    },
                {20,  {2.086, 2.845, 3.850}    },
		{30,  {2.042, 2.750, 3.646}    },
                {60,  {2.000, 2.660, 3.460}    },
		{120, {1.980, 2.617, 3.373}    },
	};
	static const double probabilities[] = {0.05, 0.01, 0.001};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		for (size_t j = 0; j < ARRAY_LENGTH(probabilities); j++) {
			double bound = student_bound(probabilities[j], rows[i].freedom);

			assert_near(bound, rows[i].bounds[j], 0.0006);
			assert_near(student_beyond(bound, rows[i].freedom), probabilities[j],
				    1e-14);
		}
}

/* With one degree of freedom it is Cauchy's distribution, with two an algebraic one. */
static void test_closed_forms(void **unused)
{
	for (int i = 0; i < 300; i++) {
		double t = 0.37 * i;

		assert_near(student_beyond(t, 1), 1 - 2 * atan(t) / M_PI, 1e-15);
		assert_near(student_beyond(t, 2), 1 - t / sqrt(2 + t * t), 1e-15);
		assert_near(student_beyond(-t, 2), student_beyond(t, 2), 0);
	}
}

/* Regularized incomplete beta functions to thirty digits, computed by another program. */
static void test_more_digits(void **unused)
{
	assert_near(student_beyond(2.5, 3), 0.087706647008065547, 1e-15);
	assert_near(student_beyond(0.3, 4), 0.77912142827745971, 1e-15);
	assert_near(student_beyond(8, 4), 0.0013238969092171679, 1e-15);
	assert_near(student_beyond(5, 7), 0.0015652779531728246, 1e-15);
	assert_near(student_beyond(3, 30), 0.0053899640656519466, 1e-15);
	assert_near(student_beyond(4.5, 199), 1.1547493405823584e-5, 1e-14);
	assert_near(student_bound(0.05, 4), 2.77644510519779, 1e-13);
	assert_near(student_bound(0.001, 4), 8.61030158137928, 1e-12);
	assert_near(student_bound(1e-5, 6), 13.5553164174004, 1e-8);
	assert_near(student_bound(0.05, 1000), 1.96233908082641, 1e-12);
}

/* Integrals of the density over its angle, computed by another program. */
static void test_parts_of_degrees(void **unused)
{
	assert_near(student_beyond(2.5, 2.5), 0.1045699630781553, 1e-13);
	assert_near(student_beyond(0.3, 3.75), 0.7800645317150897, 1e-13);
	assert_near(student_beyond(8, 1.2), 0.05484447395161048, 1e-13);
	assert_near(student_beyond(-5, 17.776473516178495), 9.625313669086124e-05, 1e-15);
	assert_near(student_beyond(100, 1.5), 0.0007541098899248878, 1e-15);
	assert_near(student_bound(0.05, 3.835919153093), 2.823915553575, 1e-10);
	/* The function is continuous at integer degrees of freedom. */
	for (int freedom = 2; freedom < 200; freedom += 9)
		for (double t = 0; t < 20; t += 0.7)
			assert_near(student_beyond(t, freedom + 1e-9), student_beyond(t, freedom),
				    1e-8);
	assert_near(student_beyond(0, 2.5), 1, 0);
	assert_near(student_beyond(HUGE_VAL, 2.5), DBL_EPSILON, 0);
}

static void test_ends(void **unused)
{
	for (size_t freedom = 1; freedom < 40; freedom++) {
		assert_near(student_beyond(0, freedom), 1, 0);
		assert_near(student_beyond(HUGE_VAL, freedom), DBL_EPSILON, 0);
		assert_true(student_bound(1, freedom) <= DBL_MIN);
		assert_true(student_bound(1e-300, freedom) == HUGE_VAL);
		assert_true(student_beyond(1e9, freedom) <= student_beyond(1e8, freedom));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published_tables),
		cmocka_unit_test(test_closed_forms),
		cmocka_unit_test(test_more_digits),
		cmocka_unit_test(test_parts_of_degrees),
		cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
