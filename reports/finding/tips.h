/* SPDX-License-Identifier: MIT */
/*
 * Advice on how to program, one sentence for each tip, from pairs of cases that ran in turn. It
 * quotes verdicts and intervals only. paired_trials.c finds the pairs.
 */
#ifndef REPORTS_FINDING_TIPS_H
#define REPORTS_FINDING_TIPS_H

#include "reports/result/compared_figure.h"
#include "reports/result/result.h"
#include "reports/stats/interval.h"
#include "reports/verdict/verdict.h"

#define TIPS_TEXT (2 * CASE_ID + 512)

/* Two cases, and what one is worth beside the other. */
struct tips_pair {
	const struct result_case *line;
	const struct result_case *beside;
	const struct compared_figure *figure;
	struct interval with;
	struct interval without;
	struct interval ratio;
	struct judged_ratio judged;
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

/* What the tip is about; NULL: the parameter is none. */
const char *tips_title(const struct tips_list *turns);

/* Empty: there is no advice. */
void tips_advise(const struct tips_list *turns, char text[static TIPS_TEXT]);

#endif
