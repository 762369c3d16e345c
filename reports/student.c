/* SPDX-License-Identifier: MIT */
#include "reports/student.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

/*
 * The finite sums of Abramowitz and Stegun, 26.7.3 and 26.7.4, with t = tan(theta) *
 * sqrt(freedom): the probability to be within t is
 *   sin (1 + 1/2 cos^2 + 1*3/(2*4) cos^4 + ...)                for even degrees,
 *   2/pi (theta + sin (cos + 2/3 cos^3 + 2*4/(3*5) cos^5 ...)) for odd ones,
 * with as many terms as there are degrees of freedom in pairs.
 */
double student_beyond(double t, size_t freedom)
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
	if (is_odd)
		within = 2 / M_PI * (theta + within);
	/* What is left of 1 is not known any better. */
	return fmax(1 - within, DBL_EPSILON);
}

double student_bound(double probability, size_t freedom)
{
	double low = 0;
	double high = 1;

	if (probability <= DBL_EPSILON)
		return HUGE_VAL;
	while (student_beyond(high, freedom) > probability && high < DBL_MAX / 2)
		high *= 2;
	/* Until the two are neighbours. */
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
