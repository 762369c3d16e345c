/* SPDX-License-Identifier: MIT */
/*
 * Judges two sides, base and head, measured in pairs of runs, one right after the other, so that
 * slow changes of the machine cancel in their ratio. Each figure of each case is a cell, judged by
 * a sign test of its ratios, all cells as one family. A head that is worse is confirmed by new
 * pairs. Plain data: nothing runs or prints. The caller owns the values.
 */
#ifndef REPORTS_GATE_JUDGE_H
#define REPORTS_GATE_JUDGE_H

#include <stdbool.h>

#include "core/base/error.h"
#include "reports/result/compared_figure.h"
#include "reports/verdict/verdict.h"

/* The fewest pairs of runs for a verdict: with 8, none of 18 cells could be shown to be worse. */
#define JUDGE_ROUNDS_LEAST 12

enum gate_side {
	GATE_BASE,
	GATE_HEAD,
	GATE_SIDES,
};

/* The values of each side by pair of runs; NAN: missing. */
struct judge_rounds {
	const double *values[GATE_SIDES];
	size_t count;
};

/* Evidence from the pairs of runs of a cell. */
struct judge_finding {
	size_t pairs; /* pairs with values on both sides */
	double medians[GATE_SIDES];
	double chance; /* of this many pairs beyond the threshold if the head were exactly at it */
	struct judged_ratio judged; /* head / base: the median of the ratios with 98 % bounds */
};

struct judge_cell {
	/* Set by the caller: */
	const char *id; /* the case */
	const struct compared_figure *figure;
	double threshold;   /* 0.05: 5 % */
	double resolution;  /* relative step of a value; 0: none */
	const char *fault;  /* why the cell is invalid; NULL: it is valid */
	const char *broken; /* why the head has no values to compare; NULL: it has */
	struct judge_rounds rounds;
	struct judge_rounds again; /* the confirmation; zeroed: not run again */
	/* Filled in by judge_figure and judge_confirm: */
	struct judge_finding finding;
	struct judge_finding confirmed;
	bool has_failed; /* worse in the first measurement */
	enum verdict verdict;
	char why[160]; /* the reason, unless the figures alone decided the verdict; or empty */
};

/* Judges the first measurement; has_failed says which cells to run again. -ENOMEM. */
int judge_figure(struct judge_cell *cells, size_t count, struct error *error);

/* Judges the cells that have failed by their confirmation. -ENOMEM. */
int judge_confirm(struct judge_cell *cells, size_t count, struct error *error);

const char *gate_side_name(enum gate_side side);

#endif
