/* SPDX-License-Identifier: MIT */
/*
 * Checks whether sums would overflow the 63 bits of JSON integers; documents may come from
 * anywhere. Nothing is added here.
 */
#ifndef REPORTS_RESULT_SUM_CHECK_H
#define REPORTS_RESULT_SUM_CHECK_H

#include "reports/result/result.h"

bool sum_check_are_beyond(uint64_t one, uint64_t other);

/* Returns whether adding a trial to the case would overflow. */
bool sum_check_trial_is_beyond(const struct result_case *line, const struct result_trial *trial);

/* Returns whether merging the same case of another result would overflow. */
bool sum_check_case_is_beyond(const struct result_case *line, const struct result_case *from);

#endif
