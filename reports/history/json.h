/* SPDX-License-Identifier: MIT */
/* A history for programs: series by run, with their change points. */
#ifndef REPORTS_HISTORY_JSON_H
#define REPORTS_HISTORY_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "reports/history/view.h"

#define HISTORY_SCHEMA "verbmark.history/1"

/* Writes one row per value. */
void history_csv(FILE *out, const struct history_view *view);

/* Makes a document; tool is the version of verbmark. Returns NULL if memory runs out. */
json_t *history_make(const struct history_view *view, const char *tool);

#endif
