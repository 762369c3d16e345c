/* SPDX-License-Identifier: MIT */
#include "reports/ratio.h"

#include <math.h>

#include "reports/student.h"

#define MISSED 0.05 /* by the interval */

static double mean_of_logs(const struct ratio_side *side)
{
	double sum = 0;

	for (size_t i = 0; i < side->count; i++)
		sum += log(side->values[i]);
	return sum / (double)side->count;
}

static double squares(const struct ratio_side *side, double mean)
{
	double sum = 0;

	for (size_t i = 0; i < side->count; i++) {
		double away = log(side->values[i]) - mean;

		sum += away * away;
	}
	return sum;
}

/*
 * Student's t of two samples, on logarithms: noise of a machine is so many per cent, not so
 * many nanoseconds. Each value is a median over trials, which tames its tails. The spread is
 * taken of both sides together, as both ran on alike machines, else they are not compared: of
 * two runs and two that leaves two degrees of freedom, where each side of its own would have
 * one. Ranks would need no distribution, but of three runs and three no test by ranks can ever
 * fall below p = 0.1, and none is left of that after a correction for many cases. The price is
 * an honest one: of few runs the interval is wide.
 */
static void judge(struct ratio *ratio, double away, double variance, size_t freedom)
{
	double error = sqrt(variance);
	double reach = student_bound(MISSED, freedom) * error;

	ratio->low = exp(away - reach);
	ratio->high = exp(away + reach);
	ratio->chance = 1;
	if (away != 0)
		ratio->chance = student_beyond(error > 0 ? away / error : HUGE_VAL, freedom);
}

void ratio_of(struct ratio *ratio, const struct ratio_side *base, const struct ratio_side *now,
	      double resolution)
{
	double before = mean_of_logs(base);
	double after = mean_of_logs(now);
	size_t freedom = base->count + now->count - 2;
	double variance;

	*ratio = (struct ratio){.base = exp(before),
				.now = exp(after),
				.ratio = exp(after - before),
				.low = (double)NAN,
				.high = (double)NAN,
				.chance = (double)NAN};
	if (base->count < RATIO_RUNS_LEAST || now->count < RATIO_RUNS_LEAST)
		return;
	ratio->is_known = true;
	variance = (squares(base, before) + squares(now, after)) / (double)freedom;
	/* What is rounded to a grid is anywhere in a step of it: that is a twelfth of its square. */
	variance = fmax(variance, resolution * resolution / 12);
	judge(ratio, after - before, variance * (1 / (double)base->count + 1 / (double)now->count),
	      freedom);
}
