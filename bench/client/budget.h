/* SPDX-License-Identifier: MIT */
/*
 * Chooses the case that gets the next trial. Trials run in rounds, in reverse order in every other
 * one, so that changes on the machine affect all cases alike. First every case gets its minimum;
 * the remaining time goes to the cases with the widest confidence intervals. Knows neither what a
 * trial is nor what time it is: the caller keeps the state of each case up to date.
 */
#ifndef BENCH_CLIENT_BUDGET_H
#define BENCH_CLIENT_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No case gets more trials. */
#define BUDGET_TRIALS_MOST 1000

struct budget_case {
	uint64_t minimum;       /* trials */
	double precision;       /* the relative width to reach */
	bool is_over;           /* no further trials: one failed, or others share the budget */
	uint64_t n_trials;      /* trials so far */
	uint64_t trial_ns;      /* their mean duration; before the first: an estimate */
	double width;           /* of the interval, relative to the median; NAN: unknown */
	unsigned int n_precise; /* the number of trials since the width has been precise enough */
};

struct budget {
	struct budget_case *cases;
	size_t n_cases;
	/* Zero at first. */
	uint64_t round;
	size_t place;  /* in the round */
	double urgent; /* cases less urgent than this are not part of the round */
};

/*
 * Returns the case that gets the next trial; n_cases: no case gets one. Chooses a trial beyond
 * the minimum only if it fits in left_ns.
 */
size_t budget_next(struct budget *budget, uint64_t left_ns);

/* Updates a case after a successful trial. */
void budget_add(struct budget_case *line, uint64_t duration_ns, double width);

/* Returns how long the missing trials of the minimum will take. */
double budget_missing_ns(const struct budget *budget);

#endif
