/* SPDX-License-Identifier: MIT */
/*
 * Cases whose trials were run in turn: each beside the one that differs from it in a single
 * parameter, as the median of the ratios of their trials of the same round, with its
 * interval. What the machine did meanwhile it did to both. Where the parameter is a tip of
 * how to program, what it is worth here is said in a sentence.
 */
#ifndef REPORTS_FINDING_PAIRED_TRIALS_H
#define REPORTS_FINDING_PAIRED_TRIALS_H

#include <stdio.h>

#include "reports/result/result.h"

/* Prints nothing of a result with no such cases. */
void paired_trials_print(FILE *out, const struct result *result);

/* For documents; NULL: there are none. */
json_t *paired_trials_make(const struct result *result);

#endif
