/* SPDX-License-Identifier: MIT */
/* Sentences about a comparison that all that shows one has alike: each is told to say. */
#ifndef REPORTS_COMPARE_SENTENCES_H
#define REPORTS_COMPARE_SENTENCES_H

#include "reports/compare/compare.h"
#include "reports/table/sentences.h"

#define COMPARE_TEXT 1024

/* NULL: none of the runs is of the software device. */
const char *compare_banner(const struct comparison *comparison);

/* What force looked past; false: nothing. */
bool compare_forced(const struct comparison *comparison, char text[static COMPARE_TEXT]);

/* Above all figures: the banner, what was forced, and what is compared with what. */
void compare_say_head(const struct comparison *comparison, said *say, void *owner);

/* Cases that some runs do not have, and figures that are not known. */
void compare_say_gaps(const struct comparison *comparison, said *say, void *owner);

/* What the verdicts mean here, and what to run to know more. */
void compare_say_notes(const struct comparison *comparison, said *say, void *owner);

/* How many of them there are. */
void compare_sum(const struct comparison *comparison, char text[static COMPARE_TEXT]);

#endif
