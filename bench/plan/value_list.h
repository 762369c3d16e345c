/* SPDX-License-Identifier: MIT */
/*
 * Lists and ranges of a parameter's values, as on a command line: 64,4k,1:8m. A
 * range LOW:HIGH doubles, LOW:HIGH:N multiplies by N, LOW:HIGH:+N adds; +-1 (or ±1)
 * behind a member brings the neighbours of all its values along. LOW%:HIGH% of rates
 * adds 10 %. all stands for
 * every word of those that are words.
 */
#ifndef BENCH_PLAN_VALUE_LIST_H
#define BENCH_PLAN_VALUE_LIST_H

#include "bench/plan/parameters.h"

#define VALUE_LIST_MOST 256

struct value_list {
	uint64_t item[VALUE_LIST_MOST];
	size_t count;
};

/* Takes the place of what the list had. Returns what is wrong with the text, or NULL. */
const char *value_list_parse(struct value_list *list, const struct parameter *parameter,
			     const char *text);

/*
 * From JSON: one value or an array of them. Returns what is wrong, or NULL; culprit is then the
 * value that it is about, the array where it is about all of it.
 */
const char *value_list_decode(struct value_list *list, const struct parameter *parameter,
			      const json_t *json, const json_t **culprit);

/* To JSON: always an array. */
json_t *value_list_encode(const struct value_list *list, const struct parameter *parameter);

#endif
