/* SPDX-License-Identifier: MIT */
/*
 * Two arms, a base and a head, each measured once in every round, one right after the other:
 * what differs between two rounds is the machine's and falls out of their ratio. Each figure
 * of each case is a cell, judged by the sign test of its rounds' ratios against a floor, all
 * cells as one family; what fails is measured once more. Plain data: nothing runs and nothing
 * is printed here. Values are the caller's.
 */
#ifndef REPORTS_GATE_JUDGE_H
#define REPORTS_GATE_JUDGE_H

#include <stdbool.h>

#include "core/base/error.h"
#include "reports/result/compared_figure.h"

/* Of all cells together: how often one at its very floor would be told to be beyond it. */
#define JUDGE_LEVEL 0.05

/* Fewer rounds are no gate: with 8 of them none of 18 cells could fail. */
#define JUDGE_ROUNDS_LEAST 12

enum gate_side {
	GATE_BASE,
	GATE_HEAD,
	GATE_SIDES,
};

enum judge_verdict {
	JUDGE_OK,           /* the head is no more than the floor worse */
	JUDGE_IMPROVED,     /* and more than that better */
	JUDGE_INCONCLUSIVE, /* it may be worse by more: the rounds do not tell */
	JUDGE_REGRESSED,    /* it is worse by more, twice */
	JUDGE_INVALID,      /* the rounds say nothing, the reason is there */
};

/* One value of each arm for each round; NAN: it has none. */
struct judge_rounds {
	const double *values[GATE_SIDES];
	size_t count;
};

/* What rounds say of a cell. Ratios are head / base; worse is more, or of a rate less. */
struct judge_finding {
	size_t pairs; /* of rounds that have both */
	double medians[GATE_SIDES];
	double ratio;     /* the median of the rounds' */
	double low;       /* bounds of it, each at the level of one cell among all; */
	double high;      /* NAN: too few pairs */
	double seen;      /* how many times worse it would have to be to be found */
	double spread;    /* of the rounds' ratios: what two thirds of them lie within, */
	double tied;      /* and the share of them that are 1 to the digit */
	double worse;     /* the chance, were it at the floor, of so many rounds beyond it */
	double better;    /* and of so many on the other side */
	double corrected; /* worse, among all cells */
	double corrected_better;
};

struct judge_cell {
	const char *id; /* of the case; to be set by the caller, like: */
	const struct compared_figure *figure;
	double floor;       /* 0.05: 5 per cent */
	double resolution;  /* of a value, as a part of it; 0: of a number */
	double spread_most; /* of the rounds: more of it says nothing; 0: as it may be */
	const char *fault;  /* why it is invalid; NULL: it is not */
	const char *broken; /* why there is nothing of the head to be compared; or NULL */
	struct judge_rounds rounds;
	struct judge_rounds again;    /* where it has failed; zeroed: it was not run again */
	struct judge_finding finding; /* from here on it is filled in */
	struct judge_finding confirmed;
	bool has_failed; /* the first time */
	enum judge_verdict verdict;
	char why[160]; /* of a verdict that is not that of the figures alone; or empty */
};

/* All first rounds: has_failed tells which cells are to be run again. -ENOMEM. */
int judge_figure(struct judge_cell *cells, size_t count, struct error *error);

/* Those that have failed, by what they had the second time. -ENOMEM. */
int judge_confirm(struct judge_cell *cells, size_t count, struct error *error);

/* Regressed where one cell has; else invalid where one is; else OK. */
enum judge_verdict judge_whole(const struct judge_cell *cells, size_t count);

const char *judge_verdict_name(enum judge_verdict verdict);
const char *gate_side_name(enum gate_side arm);

/* How much worse the head is in that ratio: 1.1 for 10 % more of a latency. */
double judge_worse(const struct judge_cell *cell, double ratio);

#endif
