/* SPDX-License-Identifier: MIT */
/* A history for programs: series run by run, with their change points. */
#ifndef REPORTS_HISTORY_JSON_H
#define REPORTS_HISTORY_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "reports/history/view.h"

#define HISTORY_SCHEMA "verbmark.history/1"

/* Writes a row for each value. */
void history_csv(FILE *out, const struct history_view *view);

/* Makes a document of that schema; tool is the version of verbmark. NULL: no memory. */
json_t *history_make(const struct history_view *view, const char *tool);

#endif
