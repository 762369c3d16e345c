/* SPDX-License-Identifier: MIT */
/*
 * A result in a few sentences: which operation is fastest, what events cost, and how close the run
 * came to the rate of the link. A sentence that compares cases needs a verdict on their trials.
 */
#ifndef REPORTS_FINDING_SUMMARY_H
#define REPORTS_FINDING_SUMMARY_H

#include <stdio.h>

#include "reports/result/result.h"

/* Prints nothing if nothing can be said. */
void summary_print(FILE *out, const struct result *result);

#endif
