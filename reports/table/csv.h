/* SPDX-License-Identifier: MIT */
/*
 * Results as comma-separated values, quoted as RFC 4180 has it, tidy: a line for each figure
 * of each case, and of each of its trials, so that a program pivots them as it likes. A figure
 * that is not known has no line; a case without any has one, with its status and no value.
 * Histograms and circumstances are in documents alone.
 */
#ifndef REPORTS_TABLE_CSV_H
#define REPORTS_TABLE_CSV_H

#include <stdio.h>

#include "reports/result/result.h"

/* The names of the columns. */
void csv_begin(FILE *out);

/* name: of the file. */
void csv_add(FILE *out, const struct result *result, const char *name);

#endif
