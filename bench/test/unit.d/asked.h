/* SPDX-License-Identifier: MIT */
/*
 * Parses parameters for tests from one text: "op=write size=4k". The others keep their
 * defaults.
 */
#ifndef BENCH_TEST_UNIT_D_ASKED_H
#define BENCH_TEST_UNIT_D_ASKED_H

#include <stdio.h>

#include "bench/plan/parameters.h"
#include "core/test/lib/check.h"

static inline void ask(struct parameters *into, char *word)
{
	char *text = strchr(word, '=');
	const struct parameter *parameter;
	uint64_t value;

	assert_non_null(text);
	*text++ = '\0';
	parameter = parameter_find(word);
	assert_non_null(parameter);
	assert_null(parameter_parse(parameter, text, &value));
	parameter_set(into, parameter, value);
}

static inline struct parameters asked(const char *text)
{
	struct parameters made = parameters_default();
	char words[1024];
	char *state;

	assert_true(strlen(text) < sizeof(words));
	snprintf(words, sizeof(words), "%s", text);
	for (char *word = strtok_r(words, " ", &state); word; word = strtok_r(NULL, " ", &state))
		ask(&made, word);
	return made;
}

#endif
