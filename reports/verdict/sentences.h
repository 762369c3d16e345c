/* SPDX-License-Identifier: MIT */
/*
 * Wording of verdicts, shared by all reports: a table cell, a sentence about one figure, the
 * counts of all. Texts are truncated to the caller's buffer.
 */
#ifndef REPORTS_VERDICT_SENTENCES_H
#define REPORTS_VERDICT_SENTENCES_H

#include "reports/verdict/verdict.h"

/* Explains the verdicts. */
#define VERDICT_LEGEND                                                                            \
	"same: a difference of the threshold or more is ruled out; better, worse: one is shown, " \
	"for all figures together (Holm, 5 %); unclear: the data cannot decide"

/* "worse", or "unclear (detects 25 %)": the smallest difference that the data could have shown. */
void verdict_cell(char *text, size_t size, const struct judged_ratio *judged);

/*
 * "9.8 % more (+8.7 to +11.0 %)", and for an unclear verdict the smallest detectable difference.
 * The caller names the sides.
 */
void verdict_describe(char *text, size_t size, const struct judged_ratio *judged);

/* "1 worse, 2 unclear, 4 same", worst first; "nothing" if all counts are 0. */
void verdict_list(char *text, size_t size, const size_t counts[static VERDICTS]);

#endif
