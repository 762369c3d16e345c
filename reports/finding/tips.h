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

#define TURNS_TEXT (2 * CASE_ID + 512)

/* Two cases, and what one is worth beside the other. */
struct turns_pair {
	const struct result_case *line;
	const struct result_case *beside;
	const struct figure *figure;
	struct interval with;
	struct interval without;
	struct interval ratio;
};

/* One that could not be measured, or not often enough. */
struct turns_gap {
	const struct result_case *line;
};

/* All pairs of a parameter, those that could not be measured too. */
struct turns {
	const char *by;
	struct turns_pair *pairs;
	size_t n_pairs;
	struct turns_gap *gaps; /* those that have no figures */
	size_t n_gaps;
};

enum turns_verdict {
	TURNS_SAME,
	TURNS_BETTER,
	TURNS_WORSE,
	TURNS_FEW, /* rounds: there is no interval to speak of */
};

enum turns_verdict turns_judge(const struct turns_pair *pair);

/* What the tip is about; NULL: the parameter is none. */
const char *turns_title(const struct turns *turns);

/* Empty: there is no advice. */
void turns_advise(const struct turns *turns, char text[static TURNS_TEXT]);

#endif
