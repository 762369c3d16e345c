/* SPDX-License-Identifier: MIT */
/*
 * Holm's correction for multiple tests. At a level of 5 %, one in twenty tests alarms falsely;
 * corrected, one in twenty families of tests has any false alarm, however the tests depend on each
 * other. It is never weaker than Bonferroni's correction.
 */
#ifndef REPORTS_STATS_HOLM_H
#define REPORTS_STATS_HOLM_H

#include <stddef.h>

#include "core/base/error.h"

/*
 * Replaces each probability by the corrected one, at most 1. A test is rejected at a level if its
 * corrected probability is not above it. On -ENOMEM they do not change.
 */
int holm_correct(double *probabilities, size_t count, struct error *error);

#endif
