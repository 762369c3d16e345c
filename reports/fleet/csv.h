/* SPDX-License-Identifier: MIT */
/*
 * The measurements of a fleet as comma-separated values, quoted according to RFC 4180: one line for
 * each pair, case and direction. from is the sender. A measurement without a figure has its status
 * and reason, and an empty value.
 */
#ifndef REPORTS_FLEET_CSV_H
#define REPORTS_FLEET_CSV_H

#include <stdio.h>

#include "reports/fleet/fleet.h"

/* Prints titles and lines, and returns 0. Stream errors are detected when it is flushed. */
int fleet_csv(FILE *out, const struct fleet *fleet);

/* Writes them to a file. */
int fleet_csv_write(const struct fleet *fleet, const char *path, struct error *error);

#endif
