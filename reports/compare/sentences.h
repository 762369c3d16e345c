/* SPDX-License-Identifier: MIT */
/* Sentences about a comparison, shared by all formats: each is passed to say. */
#ifndef REPORTS_COMPARE_SENTENCES_H
#define REPORTS_COMPARE_SENTENCES_H

#include "reports/compare/compare.h"
#include "reports/table/sentences.h"

#define COMPARE_TEXT 1024

/* NULL: none of the runs is of the software device. */
const char *compare_banner(const struct comparison *comparison);

/* Describes the difference that --force ignored; false: there was none. */
bool compare_forced(const struct comparison *comparison, char text[static COMPARE_TEXT]);

/* Above all figures: the banner, what was forced, and what is compared with what. */
void compare_say_head(const struct comparison *comparison, said *say, void *owner);

/* Cases that some runs do not have, and figures that are not known. */
void compare_say_gaps(const struct comparison *comparison, said *say, void *owner);

/* Explains the verdicts, and says which runs would decide more. */
void compare_say_notes(const struct comparison *comparison, said *say, void *owner);

/* The headline, and how many figures have which verdict. */
void compare_sum(const struct comparison *comparison, char text[static COMPARE_TEXT]);

#endif
