/* SPDX-License-Identifier: MIT */
/*
 * What turns tell of a tip of how to program: a sentence of what it is worth here. Of turns.c,
 * which finds the pairs and judges them.
 */
#ifndef REPORTS_FINDING_TIPS_H
#define REPORTS_FINDING_TIPS_H

#include "reports/result/compared_figure.h"
#include "reports/result/result.h"
#include "reports/stats/interval.h"

#define TIPS_TEXT (2 * CASE_ID + 512)

/* Two cases, and what one is worth beside the other. */
struct tips_pair {
	const struct result_case *line;
	const struct result_case *beside;
	const struct compared_figure *figure;
	struct interval with;
	struct interval without;
	struct interval ratio;
};

/* One that could not be measured, or not often enough. */
struct tips_gap {
	const struct result_case *line;
};

/* All pairs of a parameter, those that could not be measured too. */
struct tips_list {
	const char *by;
	struct tips_pair *pairs;
	size_t n_pairs;
	struct tips_gap *gaps; /* those that have no figures */
	size_t n_gaps;
};

enum tips_verdict {
	TURNS_SAME,
	TURNS_BETTER,
	TURNS_WORSE,
	TURNS_FEW, /* rounds: there is no interval to speak of */
};

enum tips_verdict tips_judge(const struct tips_pair *pair);

/* What the tip is about; NULL: the parameter is none. */
const char *tips_title(const struct tips_list *turns);

/* Empty: there is no advice. */
void tips_advise(const struct tips_list *turns, char text[static TIPS_TEXT]);

#endif
