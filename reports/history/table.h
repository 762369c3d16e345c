/* SPDX-License-Identifier: MIT */
/* A history as text for terminals. */
#ifndef REPORTS_HISTORY_TABLE_H
#define REPORTS_HISTORY_TABLE_H

#include <stdio.h>

#include "reports/history/view.h"

/* Setups, and so many of the newest runs; 0: all. */
void history_table_list(FILE *out, const struct history_view *view, size_t newest);

/* Series run by run, those of a case beside each other, with their steps. */
void history_table_show(FILE *out, const struct history_view *view);

/* Steps in the newest runs; with_better: those for the better too. */
void history_table_check(FILE *out, const struct history_view *view, bool with_better);

#endif
