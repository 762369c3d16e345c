/* SPDX-License-Identifier: MIT */
/*
 * The settings of a case that its id may not show: ids omit defaults, which change between
 * versions. They are words like "tx-depth=128" in a fixed order, one for each option that was
 * given or chosen automatically. Options that only set the effort (see below) are not included.
 */
#ifndef REPORTS_RESULT_RUN_SETTINGS_H
#define REPORTS_RESULT_RUN_SETTINGS_H

#include "reports/result/result.h"

/* Returns the words, for the caller to free; NULL if memory runs out. */
char *run_settings_of(const struct result_case *line);

/* Appends the words of one that neither other nor text has, each preceded by ", ". */
void run_settings_tell(char *text, size_t size, const char *one, const char *other);

/*
 * Returns the value that was in effect before the option existed; settings omit this value. Empty:
 * no single value. NULL: the option is not part of settings, or unknown to this version.
 */
const char *run_settings_before(const char *option);

/* Returns whether an option only sets how long and how often a case is measured. */
bool run_settings_is_effort(const char *option);

#endif
