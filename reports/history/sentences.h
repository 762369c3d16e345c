/* SPDX-License-Identifier: MIT */
/* Sentences about a history, shared by its tables and its page. */
#ifndef REPORTS_HISTORY_SENTENCES_H
#define REPORTS_HISTORY_SENTENCES_H

#include "reports/history/view.h"

#define HISTORY_TEXT 1024

/* Writes "version 1.2, commit 0123abc", or the known part of it. */
void history_describe_run(char text[static HISTORY_TEXT], const struct history_run *run);

/* Writes "p50 us 1.24 -> 1.36, 1.097 times, worse: at 2026-... with version ...". */
void history_describe_change(char text[static HISTORY_TEXT], const struct history_view *view,
			     const struct history_series *series,
			     const struct history_change *change);

/* Writes the case, its kind, and the settings that distinguish it from others with its id. */
void history_describe_case(char text[static HISTORY_TEXT], const struct history_series *series);

/* Writes the number, title and number of runs of a setup. */
void history_describe_setup(char text[static HISTORY_TEXT], const struct history_view *view,
			    size_t setup);

/* Writes the closing line: numbers of runs, series and change points. */
void history_describe_total(char text[static HISTORY_TEXT], const struct history_view *view);

/* Writes the rule that finds change points. */
void history_describe_rule(char text[static HISTORY_TEXT], const struct history_view *view);

/* Counts the change points in the newest runs; with_better: also improvements. */
size_t history_recent(const struct history_view *view, bool with_better);

#endif
