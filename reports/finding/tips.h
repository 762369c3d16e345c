/* SPDX-License-Identifier: MIT */
/*
 * Programming advice, one sentence per tip, from pairs of interleaved cases. It quotes only
 * verdicts and intervals. paired_trials.c finds the pairs.
 */
#ifndef REPORTS_FINDING_TIPS_H
#define REPORTS_FINDING_TIPS_H

#include "reports/finding/bounded.h"
#include "reports/result/compared_figure.h"
#include "reports/result/result.h"
#include "reports/stats/interval.h"
#include "reports/verdict/verdict.h"

#define TIPS_TEXT (2 * CASE_ID + 512)

/* A case compared with another. */
struct tips_pair {
	const struct result_case *line;
	const struct result_case *beside;
	const struct compared_figure *figure;
	struct bounded with;
	struct bounded without;
	struct interval ratio;
	struct judged_ratio judged;
};

/* A case without figures, or with too few trials. */
struct tips_gap {
	const struct result_case *line;
};

/* All pairs of a parameter, and the cases that could not be compared. */
struct tips_list {
	const char *by;
	struct tips_pair *pairs;
	size_t n_pairs;
	struct tips_gap *gaps; /* cases without figures */
	size_t n_gaps;
};

/* Returns the subject of the tip; NULL: no tip is about the parameter. */
const char *tips_title(const struct tips_list *turns);

/* Formats the interval of the ratio: "1.40..1.60", or "-" with too few trials. */
#define TIPS_INTERVAL 64
void tips_interval(char text[static TIPS_INTERVAL], const struct tips_pair *pair);

/* Writes the advice; empty: none. */
void tips_advise(const struct tips_list *turns, char text[static TIPS_TEXT]);

#endif
