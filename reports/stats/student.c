/* SPDX-License-Identifier: MIT */
#include "reports/stats/student.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * For integer degrees of freedom: the finite sums of Abramowitz and Stegun, 26.7.3 and 26.7.4, with
 * t = tan(theta) * sqrt(freedom). The probability to be within t is
 *   sin (1 + 1/2 cos^2 + 1*3/(2*4) cos^4 + ...)                for even degrees,
 *   2/pi (theta + sin (cos + 2/3 cos^3 + 2*4/(3*5) cos^5 ...)) for odd degrees,
 * with as many terms as pairs of degrees of freedom.
 */
static double within_whole(double t, size_t freedom)
{
	double theta = atan(fabs(t) / sqrt((double)freedom));
	double cosine = cos(theta);
	bool is_odd = freedom % 2;
	double term = is_odd ? cosine : 1;
	double sum = 0;
	double within;

	for (size_t i = is_odd ? 1 : 0; i + 2 <= freedom; i += 2) {
		sum += term;
		term *= cosine * cosine * (double)(i + 1) / (double)(i + 2);
	}
	within = sin(theta) * sum;
	return is_odd ? 2 / M_PI * (theta + within) : within;
}

/* Keeps a divisor of the continued fraction from being 0. */
static double nonzero(double value)
{
	return fabs(value) < DBL_MIN ? DBL_MIN : value;
}

/*
 * The continued fraction of the incomplete beta function, 26.5.8, evaluated by Lentz's method until
 * further parts change nothing.
 */
static double beta_fraction(double x, double a, double b)
{
	double above = 1;
	double below = 1 / nonzero(1 - (a + b) * x / (a + 1));
	double sum = below;

	for (int i = 1; i < 1000; i++) {
		double at = a + 2 * i;
		double parts[] = {i * (b - i) * x / ((at - 1) * at),
				  -(a + i) * (a + b + i) * x / (at * (at + 1))};
		double change = 1;

		for (int j = 0; j < 2; j++) {
			below = 1 / nonzero(1 + parts[j] * below);
			above = nonzero(1 + parts[j] / above);
			change *= above * below;
		}
		sum *= change;
		if (fabs(change - 1) <= DBL_EPSILON)
			break;
	}
	return sum;
}

/* 26.7.1: the incomplete beta function of half the degrees of freedom and 1/2. */
static double beyond_any(double t, double freedom)
{
	double a = freedom / 2;
	double b = 0.5;
	double x = freedom / (freedom + t * t);
	double rest = t * t / (freedom + t * t);
	double factor;

	if (!(x > 0))
		return 0;
	if (!(rest > 0))
		return 1;
	factor = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(rest));
	return x < (a + 1) / (a + b + 2) ? factor * beta_fraction(x, a, b) / a
					 : 1 - factor * beta_fraction(rest, b, a) / b;
}

double student_beyond(double t, double freedom)
{
	double whole = floor(freedom);
	double beyond =
		whole < freedom ? beyond_any(t, freedom) : 1 - within_whole(t, (size_t)whole);

	/* Differences to 1 are not known more precisely. */
	return fmax(beyond, DBL_EPSILON);
}

double student_bound(double probability, double freedom)
{
	double low = 0;
	double high = 1;

	if (probability <= DBL_EPSILON)
		return HUGE_VAL;
	while (student_beyond(high, freedom) > probability && high < DBL_MAX / 2)
		high *= 2;
	/* Bisect until the two are adjacent doubles. */
	for (;;) {
		double middle = low + (high - low) / 2;

		if (middle <= low || middle >= high)
			return high;
		if (student_beyond(middle, freedom) > probability)
			low = middle;
		else
			high = middle;
	}
}
