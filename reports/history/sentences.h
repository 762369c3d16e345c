/* SPDX-License-Identifier: MIT */
/* Sentences about a history that all that shows one has alike. */
#ifndef REPORTS_HISTORY_SENTENCES_H
#define REPORTS_HISTORY_SENTENCES_H

#include "reports/history/view.h"

#define HISTORY_TEXT 1024

/* "version 1.2, commit 0123abc", or what is known of that. */
void history_tell_run(char text[static HISTORY_TEXT], const struct history_run *run);

/* "p50 1.24 -> 1.36 us, 1.097 times, worse: came with version ...; before: ...". */
void history_tell_step(char text[static HISTORY_TEXT], const struct history_view *view,
		       const struct history_series *series, const struct history_step *step);

/* The case with its kind, and what it has otherwise than others of its id. */
void history_tell_case(char text[static HISTORY_TEXT], const struct history_series *series);

/* The setup by its number, with what it is. */
void history_tell_setup(char text[static HISTORY_TEXT], const struct history_view *view,
			size_t setup);

/* How many steps there are of what; for the end. */
void history_tell_sum(char text[static HISTORY_TEXT], const struct history_view *view);

/* By what rule they are steps. */
void history_tell_rule(char text[static HISTORY_TEXT], const struct history_view *view);

/* Steps in the newest runs; with_better: those for the better too. */
size_t history_recent(const struct history_view *view, bool with_better);

#endif
