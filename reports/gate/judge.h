/* SPDX-License-Identifier: MIT */
/*
 * Two sides, a base and a head, measured in pairs of runs, one right after the other: what differs
 * between two pairs is the machine's and cancels in their ratio. Each figure of each case is a
 * cell, judged by the sign test of its ratios, all cells as one family. A head that is worse is
 * measured once more, on new pairs. Plain data: nothing runs or prints. Values are the caller's.
 */
#ifndef REPORTS_GATE_JUDGE_H
#define REPORTS_GATE_JUDGE_H

#include <stdbool.h>

#include "core/base/error.h"
#include "reports/result/compared_figure.h"
#include "reports/verdict/verdict.h"

/* The fewest pairs of runs: with 8 of them none of 18 cells could be worse. */
#define JUDGE_ROUNDS_LEAST 12

enum gate_side {
	GATE_BASE,
	GATE_HEAD,
	GATE_SIDES,
};

/* One value of each side for each round; NAN: it has none. */
struct judge_rounds {
	const double *values[GATE_SIDES];
	size_t count;
};

/* Evidence from the pairs of runs of a cell. */
struct judge_finding {
	size_t pairs; /* with a value of both sides */
	double medians[GATE_SIDES];
	double chance; /* of so many pairs beyond the threshold, if the head were at it */
	struct judged_ratio judged; /* head / base: the median of the ratios, with bounds of 98 % */
};

struct judge_cell {
	const char *id; /* of the case; to be set by the caller, like: */
	const struct compared_figure *figure;
	double threshold;   /* 0.05: 5 % */
	double resolution;  /* of a value, as a part of it; 0: of a number */
	const char *fault;  /* why it is invalid; NULL: it is not */
	const char *broken; /* why there is nothing of the head to be compared; or NULL */
	struct judge_rounds rounds;
	struct judge_rounds again;    /* where it has failed; zeroed: it was not run again */
	struct judge_finding finding; /* from here on it is filled in */
	struct judge_finding confirmed;
	bool has_failed; /* the first time */
	enum verdict verdict;
	char why[160]; /* of a verdict that is not that of the figures alone; or empty */
};

/* All first rounds: has_failed tells which cells are to be run again. -ENOMEM. */
int judge_figure(struct judge_cell *cells, size_t count, struct error *error);

/* Those that have failed, by what they had the second time. -ENOMEM. */
int judge_confirm(struct judge_cell *cells, size_t count, struct error *error);

const char *gate_side_name(enum gate_side side);

#endif
