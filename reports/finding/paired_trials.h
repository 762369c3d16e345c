/* SPDX-License-Identifier: MIT */
/*
 * Cases with interleaved trials: each is compared with the case that differs from it in a single
 * parameter, by the median of the ratios of paired trials, with its interval. Changes of the
 * machine affect both alike. If the parameter is one of the tips, a sentence gives advice.
 */
#ifndef REPORTS_FINDING_PAIRED_TRIALS_H
#define REPORTS_FINDING_PAIRED_TRIALS_H

#include <stdio.h>

#include "reports/result/result.h"

/* Prints nothing if the result has no interleaved cases. */
void paired_trials_print(FILE *out, const struct result *result);

/* Returns the pairs for the document; NULL: none. */
json_t *paired_trials_make(const struct result *result);

#endif
