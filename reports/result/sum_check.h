/* SPDX-License-Identifier: MIT */
/*
 * Whether what is added up can be counted: JSON has 63 bits, and anybody can write a document.
 * Nothing is added here.
 */
#ifndef REPORTS_RESULT_SUM_CHECK_H
#define REPORTS_RESULT_SUM_CHECK_H

#include "reports/result/result.h"

bool sum_check_are_beyond(uint64_t one, uint64_t other);

/* One trial more. */
bool sum_check_trial_is_beyond(const struct result_case *line, const struct result_trial *trial);

/* All that another one has of the same case. */
bool sum_check_case_is_beyond(const struct result_case *line, const struct result_case *from);

#endif
