/* SPDX-License-Identifier: MIT */
/*
 * Of many tests one in twenty alarms for nothing at 5 %. Holm's correction has it so
 * that among all of them together there is a false alarm in one of twenty cases, in
 * whatever way they depend on each other, and is never weaker than Bonferroni's.
 */
#ifndef REPORTS_STATS_HOLM_H
#define REPORTS_STATS_HOLM_H

#include <stddef.h>

#include "core/base/error.h"

/*
 * Puts in the place of each probability the corrected one, at most 1: what it rejects at
 * a level is what is not above it. -ENOMEM leaves them as they are.
 */
int holm_correct(double *probabilities, size_t count, struct error *error);

#endif
