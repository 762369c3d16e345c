/* SPDX-License-Identifier: MIT */
/*
 * Lists of values, one for each parameter: what the command line, a plan file or a
 * preset asks for. Its cases are the product of the lists. A list without members
 * leaves its parameter at the default.
 */
#ifndef BENCH_PLAN_PRODUCT_H
#define BENCH_PLAN_PRODUCT_H

#include "bench/plan/value_list.h"

/* Half a year of cases of a second each. */
#define PRODUCT_MOST 1000000

struct product {
	struct value_list lists[PARAMETERS];
};

/* A parameter's own list. */
struct value_list *product_list(struct product *product, const struct parameter *parameter);

/* How many cases there are. 0: more than PRODUCT_MOST. */
size_t product_count(const struct product *product);

/* One of them, counted like the digits of a number: the last list runs fastest. */
struct parameters product_case(const struct product *product, size_t number);

/*
 * The case that one is to be seen beside: the same, but for the one parameter of which it
 * has another value than the list's first. false: there is none, or there are several. What
 * is done, and to how many bytes, is no parameter of that kind, nor is any effort.
 */
bool product_beside(const struct product *product, size_t number, size_t *beside,
		    const struct parameter **by);

/* Lists that have members take the place of the others'. */
void product_override(struct product *product, const struct product *by);

/* An object whose keys are the long names of the options. */
int product_decode(struct product *product, json_t *object, struct error *error);
json_t *product_encode(const struct product *product);

#endif
