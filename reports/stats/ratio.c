/* SPDX-License-Identifier: MIT */
#include "reports/stats/ratio.h"

#include <math.h>

#include "reports/stats/student.h"

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
		double refused = log(side->values[i]) - mean;

		sum += refused * refused;
	}
	return sum;
}

/* Two samples, what of a mean's square is not known, and by how many degrees of freedom. */
struct spread {
	double variance;
	double freedom;
};

/*
 * On logarithms: noise of a machine is so many per cent, not so many nanoseconds. Each value
 * is a median over trials, which tames its tails. Ranks would need no distribution, but of
 * three runs and three no test by ranks can ever fall below p = 0.1, and none is left of that
 * after a correction for many cases. The price is an honest one: of few runs the interval is
 * wide.
 */
static void widen(struct ratio *ratio, double refused, const struct spread *spread)
{
	double error = sqrt(spread->variance);
	double reach = student_bound(MISSED, spread->freedom) * error;
	double chance = 1;

	if (refused != 0)
		chance = student_beyond(error > 0 ? refused / error : HUGE_VAL, spread->freedom);
	ratio->low = fmin(ratio->low, exp(refused - reach));
	ratio->high = fmax(ratio->high, exp(refused + reach));
	ratio->chance = fmax(ratio->chance, chance);
}

/* Student's, as if the spread of both sides were one. */
static struct spread pooled(const double squares[], const double counts[], double least)
{
	double freedom = counts[0] + counts[1] - 2;
	double variance = fmax((squares[0] + squares[1]) / freedom, least);

	return (struct spread){variance * (1 / counts[0] + 1 / counts[1]), freedom};
}

/*
 * Welch's, where each side has its own, with the degrees of freedom of Satterthwaite. Two runs
 * beside more of them may be even by luck, which would count as if all were: 9 % of alarms
 * where 5 were to be. So few have but their own degree.
 */
static struct spread separate(const double squares[], const double counts[], double least)
{
	double freedom = counts[0] + counts[1] - 2;
	double sum = 0;
	double parts = 0;

	for (int i = 0; i < 2; i++) {
		double part = fmax(squares[i] / (counts[i] - 1), least) / counts[i];

		sum += part;
		parts += part * part / (counts[i] - 1);
	}
	if (fmin(counts[0], counts[1]) < 3 && freedom > 2)
		freedom = 1;
	else if (parts > 0)
		freedom = fmax(1, fmin(freedom, sum * sum / parts));
	return (struct spread){sum, freedom};
}

/*
 * The wider one of both intervals: Student's alone is too narrow where the side of fewer runs
 * has more of the spread, and Welch's alone where that side is even by luck.
 */
void ratio_of(struct ratio *ratio, const struct ratio_side *base, const struct ratio_side *now,
	      double resolution)
{
	double before = mean_of_logs(base);
	double after = mean_of_logs(now);
	const double sums[] = {squares(base, before), squares(now, after)};
	const double counts[] = {(double)base->count, (double)now->count};
	/* What is rounded to a grid is anywhere in a step of it: a twelfth of its square. */
	double least = resolution * resolution / 12;
	struct spread spread;

	*ratio = (struct ratio){.base = exp(before),
				.now = exp(after),
				.ratio = exp(after - before),
				.low = (double)NAN,
				.high = (double)NAN,
				.chance = (double)NAN};
	if (fmin(counts[0], counts[1]) < RATIO_RUNS_LEAST &&
	    fmax(counts[0], counts[1]) < RATIO_RUNS_BESIDE)
		return;
	ratio->is_known = true;
	spread = pooled(sums, counts, least);
	widen(ratio, after - before, &spread);
	if (fmin(counts[0], counts[1]) < RATIO_RUNS_LEAST)
		return;
	spread = separate(sums, counts, least);
	widen(ratio, after - before, &spread);
}
