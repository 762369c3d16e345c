/* SPDX-License-Identifier: MIT */
/*
 * A command line for tests, written as one text with '|' between its words.
 */
#ifndef BENCH_TEST_UNIT_D_WORDS_H
#define BENCH_TEST_UNIT_D_WORDS_H

#include <stdio.h>

#include "core/test/lib/check.h"

#define WORDS_MAX 32

struct words {
	char text[8192];
	char *argv[WORDS_MAX + 2];
	int argc;
};

/* "" is a command line without arguments, "|" one with two empty arguments. */
static inline void words_init(struct words *words, const char *line)
{
	static char name[] = "command";
	char *next = words->text;

	*words = (struct words){.argv = {name}, .argc = 1};
	assert_true(strlen(line) < sizeof(words->text));
	snprintf(words->text, sizeof(words->text), "%s", line);
	if (!*line)
		return;
	do {
		assert_true(words->argc <= WORDS_MAX);
		words->argv[words->argc++] = next;
		next = strchr(next, '|');
		if (next)
			*next++ = '\0';
	} while (next);
}

#endif
