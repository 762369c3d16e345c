/* SPDX-License-Identifier: MIT */
/*
 * Lists of values, one for each parameter, from the command line, a plan file or a preset. The
 * cases are the product of the lists. An empty list means the parameter's default.
 */
#ifndef BENCH_PLAN_PRODUCT_H
#define BENCH_PLAN_PRODUCT_H

#include "bench/plan/value_list.h"

/* At a second each, these cases take eleven days. */
#define PRODUCT_MOST 1000000

struct product {
	struct value_list lists[PARAMETERS];
};

/* Returns a parameter's list. */
struct value_list *product_list(struct product *product, const struct parameter *parameter);

/* Returns the number of cases, or 0 if there are more than PRODUCT_MOST. */
size_t product_count(const struct product *product);

/* Returns one case. The last list varies fastest, like the last digit of a number. */
struct parameters product_case(const struct product *product, size_t number);

/*
 * Finds the case that this one is compared with: the same, except for one parameter, which has the
 * first value of its list. Returns false if no or several parameters differ from their first
 * value. The operation, metric, size, step and effort are not compared.
 */
bool product_beside(const struct product *product, size_t number, size_t *beside,
		    const struct parameter **by);

/* Replaces lists by those of `by` that are not empty. */
void product_override(struct product *product, const struct product *by);

/* Converts an object, whose keys are the long option names, to a product and back. */
int product_decode(struct product *product, json_t *object, struct error *error);
json_t *product_encode(const struct product *product);

#endif
