/* SPDX-License-Identifier: MIT */
#include "reports/stats/ratio.h"

#include <math.h>

#include "reports/stats/student.h"

#define MISSED 0.05 /* chance that the interval misses the ratio */

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
		double deviation = log(side->values[i]) - mean;

		sum += deviation * deviation;
	}
	return sum;
}

/*
 * Works on logarithms, since noise scales with the value. Each value is a median over trials, which
 * tames the tails. A rank test would assume no distribution, but with three runs per side its p
 * never falls below 0.1. The price is a wide interval for few runs.
 */
static void widen(struct ratio *ratio, double variance, double freedom)
{
	const struct ratio_spread spread = {sqrt(variance), freedom};
	double middle = log(ratio->ratio);
	double reach = student_bound(MISSED, freedom) * spread.error;

	ratio->spreads[ratio->n_spreads++] = spread;
	ratio->low = fmin(ratio->low, exp(middle - reach));
	ratio->high = fmax(ratio->high, exp(middle + reach));
}

/* Student's interval: assumes that both sides have the same spread. */
static void pool(struct ratio *ratio, const double squares[], const double counts[], double least)
{
	double freedom = counts[0] + counts[1] - 2;
	double variance = fmax((squares[0] + squares[1]) / freedom, least);

	widen(ratio, variance * (1 / counts[0] + 1 / counts[1]), freedom);
}

/*
 * Welch's interval: each side has its own spread, with Satterthwaite's degrees of freedom. Two runs
 * on one side may be equal by chance, which gave 9 % false alarms instead of 5 % if the other side
 * has more: then use one degree of freedom.
 */
static void separate(struct ratio *ratio, const double squares[], const double counts[],
		     double least)
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
	widen(ratio, sum, freedom);
}

/*
 * Uses the wider of both intervals: Student's alone is too narrow if the side with fewer runs has
 * more spread, and Welch's alone if the runs of that side are equal by chance.
 */
void ratio_of(struct ratio *ratio, const struct ratio_side *base, const struct ratio_side *now,
	      double resolution)
{
	double before = mean_of_logs(base);
	double after = mean_of_logs(now);
	const double sums[] = {squares(base, before), squares(now, after)};
	const double counts[] = {(double)base->count, (double)now->count};
	/* Rounding to a step has a variance of 1/12 of the step squared. */
	double least = resolution * resolution / 12;

	*ratio = (struct ratio){.base = exp(before),
				.now = exp(after),
				.ratio = exp(after - before),
				.low = (double)NAN,
				.high = (double)NAN};
	if (fmin(counts[0], counts[1]) < RATIO_RUNS_LEAST &&
	    fmax(counts[0], counts[1]) < RATIO_RUNS_BESIDE)
		return;
	pool(ratio, sums, counts, least);
	if (fmin(counts[0], counts[1]) >= RATIO_RUNS_LEAST)
		separate(ratio, sums, counts, least);
}

bool ratio_is_known(const struct ratio *ratio)
{
	return ratio->n_spreads > 0;
}

/* distance: how far the ratio's logarithm is beyond the bound. */
static double one_sided(const struct ratio_spread *spread, double distance)
{
	double t = spread->error > 0 ? fabs(distance) / spread->error : HUGE_VAL;
	double half = distance != 0 ? student_beyond(t, spread->freedom) / 2 : 0.5;

	return distance < 0 ? 1 - half : half;
}

double ratio_beyond(const struct ratio *ratio, double threshold)
{
	double distance = fabs(log(ratio->ratio)) - log1p(threshold);
	double chance = (double)NAN;

	for (size_t i = 0; i < ratio->n_spreads; i++)
		chance = fmax(chance, one_sided(&ratio->spreads[i], distance));
	return chance;
}

double ratio_reach(const struct ratio *ratio, double chance)
{
	double reach = (double)NAN;

	for (size_t i = 0; i < ratio->n_spreads; i++)
		reach = fmax(reach, ratio->spreads[i].error *
					    student_bound(2 * chance, ratio->spreads[i].freedom));
	return reach;
}
