/* SPDX-License-Identifier: MIT */
/* A history as text for terminals. */
#ifndef REPORTS_HISTORY_TABLE_H
#define REPORTS_HISTORY_TABLE_H

#include <stdio.h>

#include "reports/history/view.h"
#include "reports/table/terminal.h"

/* Prints the setups and the given number of newest runs; 0: all. */
void history_table_list(const struct terminal *terminal, const struct history_view *view,
			size_t newest);

/* Prints the series by run, with the series of a case side by side, and their change points. */
void history_table_show(const struct terminal *terminal, const struct history_view *view);

/* Prints the change points in the newest runs; with_better: improvements too. */
void history_table_check(const struct terminal *terminal, const struct history_view *view,
			 bool with_better);

#endif
