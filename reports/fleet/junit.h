/* SPDX-License-Identifier: MIT */
/*
 * A check of a fleet as JUnit XML, for CI servers: one test for each rail of each node, and one for
 * each link or pair to blame. A blame is a failure, a lost node an error, and a rail without any
 * measurement is skipped.
 */
#ifndef REPORTS_FLEET_JUNIT_H
#define REPORTS_FLEET_JUNIT_H

#include <stdio.h>

#include "reports/fleet/fleet.h"

/* Prints the document. Returns 0 or -ENOMEM. */
int fleet_junit(FILE *out, const struct fleet *fleet);

/* Writes it to a file. */
int fleet_junit_write(const struct fleet *fleet, const char *path, struct error *error);

#endif
