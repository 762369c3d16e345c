/* SPDX-License-Identifier: MIT */
/*
 * Lists and ranges of a parameter's values, as on a command line: 64,4k,1:8m. The range LOW:HIGH
 * doubles, LOW:HIGH:N multiplies by N, and LOW:HIGH:+N adds N. +-1 (or ±1) after a member adds the
 * neighbors of each of its values. LOW%:HIGH% of rates goes in steps of 10 %. "all" stands for all
 * words.
 */
#ifndef BENCH_PLAN_VALUE_LIST_H
#define BENCH_PLAN_VALUE_LIST_H

#include "bench/plan/parameters.h"

#define VALUE_LIST_MOST 256

struct value_list {
	uint64_t item[VALUE_LIST_MOST];
	size_t count;
};

/* Replaces the list's content. Returns an error message, or NULL. */
const char *value_list_parse(struct value_list *list, const struct parameter *parameter,
			     const char *text);

/*
 * Reads one value or an array of values from JSON. Returns an error message, or NULL. culprit is
 * set to the value that is wrong, or to the array if the error concerns all of it.
 */
const char *value_list_decode(struct value_list *list, const struct parameter *parameter,
			      const json_t *json, const json_t **culprit);

/* Returns a JSON array. */
json_t *value_list_encode(const struct value_list *list, const struct parameter *parameter);

#endif
