/* SPDX-License-Identifier: MIT */
/*
 * Results as tidy comma-separated values, quoted according to RFC 4180: one line per figure of
 * each case and of each trial, for programs to pivot as they like. Unknown figures have no line. A
 * case without figures has one line, with its status and no value. Histograms and host facts are
 * only in documents.
 */
#ifndef REPORTS_TABLE_CSV_H
#define REPORTS_TABLE_CSV_H

#include <stdio.h>

#include "reports/result/result.h"

/* Prints the column names. */
void csv_begin(FILE *out);

/* Prints the lines of a result. name: of its file. */
void csv_add(FILE *out, const struct result *result, const char *name);

#endif
