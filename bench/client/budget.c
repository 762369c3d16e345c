/* SPDX-License-Identifier: MIT */
#include "bench/client/budget.h"

#include <math.h>

/*
 * A case ends once this many trials in a row left its interval narrow enough. Ending with the first
 * would select intervals that are narrow by chance, which contain the true value less often than
 * 95 %.
 */
#define PRECISE_TRIALS 2

/* A round includes the cases that are at least this urgent, relative to the most urgent one. */
#define URGENT_SHARE 0.5

static bool lacks_minimum(const struct budget_case *line)
{
	return !line->is_over && line->n_trials < line->minimum;
}

/*
 * Returns how much a case needs further trials; negative: not at all. An interval narrows like
 * 1/sqrt(n). Dividing by it gives each case trials in proportion to the spread of its figures, and
 * a case whose interval does not narrow does not use up the whole budget.
 */
static double urgency(const struct budget_case *line, uint64_t left_ns)
{
	if (line->is_over || line->n_trials >= BUDGET_TRIALS_MOST ||
	    line->n_precise >= PRECISE_TRIALS || line->trial_ns > left_ns || !isfinite(line->width))
		return -1;
	return line->width / sqrt((double)line->n_trials);
}

static bool has_minimum(const struct budget *budget)
{
	for (size_t i = 0; i < budget->n_cases; i++)
		if (lacks_minimum(&budget->cases[i]))
			return false;
	return true;
}

/* Returns whether the round has any cases. */
static bool begin_round(struct budget *budget, uint64_t left_ns)
{
	double most = -1;

	budget->urgent = (double)INFINITY;
	if (!has_minimum(budget))
		return true;
	for (size_t i = 0; i < budget->n_cases; i++)
		most = fmax(most, urgency(&budget->cases[i], left_ns));
	budget->urgent = most * URGENT_SHARE;
	return most >= 0;
}

size_t budget_next(struct budget *budget, uint64_t left_ns)
{
	size_t n = budget->n_cases;

	while (budget->place || begin_round(budget, left_ns)) {
		while (budget->place < n) {
			size_t place = budget->place++;
			size_t number = budget->round % 2 ? n - 1 - place : place;
			const struct budget_case *line = &budget->cases[number];

			if (lacks_minimum(line) || urgency(line, left_ns) >= budget->urgent)
				return number;
		}
		budget->place = 0;
		budget->round++;
	}
	return n;
}

void budget_add(struct budget_case *line, uint64_t duration_ns, double width)
{
	uint64_t sum_ns = line->trial_ns * line->n_trials + duration_ns;

	line->n_trials++;
	line->trial_ns = sum_ns / line->n_trials;
	line->width = width;
	line->n_precise = width <= line->precision ? line->n_precise + 1 : 0;
}

double budget_missing_ns(const struct budget *budget)
{
	double sum = 0;

	for (size_t i = 0; i < budget->n_cases; i++) {
		const struct budget_case *line = &budget->cases[i];

		if (lacks_minimum(line))
			sum += (double)(line->minimum - line->n_trials) * (double)line->trial_ns;
	}
	return sum;
}
