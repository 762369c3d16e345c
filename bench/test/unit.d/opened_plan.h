/* SPDX-License-Identifier: MIT */
/* A plan that tests open from one text, see words.h. One at a time: the next one closes it. */
#ifndef BENCH_TEST_UNIT_D_OPENED_PLAN_H
#define BENCH_TEST_UNIT_D_OPENED_PLAN_H

#include "bench/plan/plan.h"
#include "bench/test/unit.d/words.h"

static struct plan plan;
static struct error error;

static inline int open_plan(const char *line)
{
	/* A plan refers to the text of its command line. */
	static struct words words;

	plan_close(&plan);
	words_init(&words, line);
	error = (struct error){0};
	return plan_open(&plan, words.argc, words.argv, &error);
}

static inline int end(void **unused)
{
	plan_close(&plan);
	return 0;
}

static inline const struct parameters *parameters_of(size_t number)
{
	assert_true(number < plan.n_cases);
	return &plan.cases[number].parameters;
}

/* Checks the ids of all cases, separated by blanks. */
static inline void check_cases(const char *line, const char *wanted)
{
	char found[8192] = "";
	size_t used = 0;

	if (open_plan(line))
		fail_msg("%s: %s", line, error.text);
	for (size_t i = 0; i < plan.n_cases && used < sizeof(found); i++)
		used += (size_t)snprintf(found + used, sizeof(found) - used, "%s%s", i ? " " : "",
					 plan.cases[i].id);
	if (strcmp(found, wanted) != 0)
		fail_msg("%s: %s", line, found);
}

static inline void check_refusal(const char *line, const char *text)
{
	assert_true(open_plan(line) < 0);
	assert_string_equal(error.text, text);
	assert_null(strchr(error.text, '\n'));
}

#endif
