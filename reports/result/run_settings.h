/* SPDX-License-Identifier: MIT */
/*
 * How a case was run, as far as its id does not tell: what is at its default is in no id, and
 * defaults change from version to version. Words such as "tx-depth=128", in one order, each
 * for an option that was told, or chosen; those of effort are none.
 */
#ifndef REPORTS_RESULT_RUN_SETTINGS_H
#define REPORTS_RESULT_RUN_SETTINGS_H

#include "reports/result/result.h"

/* To be freed; empty: there is nothing to tell. NULL: no memory. */
char *run_settings_of(const struct result_case *line);

/* Adds those words of one that other has not, with commas between, which are told already. */
void run_settings_tell(char *text, size_t size, const char *one, const char *other);

/*
 * What a case was run with before there was that option, which is left out. Empty: it depends.
 * NULL: the option is no part of a variant, as those are not that came later than this.
 */
const char *run_settings_before(const char *option);

/* Returns whether an option only sets how long, and how often, a case is measured. */
bool run_settings_is_effort(const char *option);

#endif
