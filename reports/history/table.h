/* SPDX-License-Identifier: MIT */
/* A history as text for terminals. */
#ifndef REPORTS_HISTORY_TABLE_H
#define REPORTS_HISTORY_TABLE_H

#include <stdio.h>

#include "reports/history/view.h"

/* Prints the setups and that many newest runs; 0: all. */
void history_table_list(FILE *out, const struct history_view *view, size_t newest);

/* Prints series run by run and their change points; series of one case are side by side. */
void history_table_show(FILE *out, const struct history_view *view);

/* Prints the change points in the newest runs; with_better: also improvements. */
void history_table_check(FILE *out, const struct history_view *view, bool with_better);

#endif
