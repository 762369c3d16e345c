/* SPDX-License-Identifier: MIT */
/* Sentences about a comparison, shared by all formats; each is passed to say(). */
#ifndef REPORTS_COMPARE_SENTENCES_H
#define REPORTS_COMPARE_SENTENCES_H

#include "reports/compare/compare.h"
#include "reports/table/sentences.h"

#define COMPARE_TEXT 1280

/* Returns the banner of the software device; NULL: no run used it. */
const char *compare_banner(const struct comparison *comparison);

/* Describes the difference that --force ignored. Returns false if there was none. */
bool compare_forced(const struct comparison *comparison, char text[static COMPARE_TEXT]);

/* Heads the report: the banner, what was forced, and what is compared with what. */
void compare_say_head(const struct comparison *comparison, said *say, void *owner);

/* Lists cases that some runs lack, and unknown figures. */
void compare_say_gaps(const struct comparison *comparison, said *say, void *owner);

/* Explains the verdicts, and suggests runs that would decide more. */
void compare_say_notes(const struct comparison *comparison, said *say, void *owner);

/* Writes the headline and the counts of verdicts. */
void compare_sum(const struct comparison *comparison, char text[static COMPARE_TEXT]);

#endif
