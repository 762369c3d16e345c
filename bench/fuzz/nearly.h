/* SPDX-License-Identifier: MIT */
/* Lets a fuzzer skip valid input that only needs much time: products of many cases. */
#ifndef BENCH_FUZZ_NEARLY_H
#define BENCH_FUZZ_NEARLY_H

#include <jansson.h>

#include "bench/plan/product.h"

#define NEARLY_MOST 500

/* Returns the number of cases of a plan, up to its first invalid product. */
static inline size_t nearly_count(json_t *plan)
{
	static struct product product;
	size_t parts = json_is_array(plan) ? json_array_size(plan) : 1;
	size_t sum = 0;

	for (size_t i = 0; i < parts && sum <= NEARLY_MOST; i++) {
		json_t *part = json_is_array(plan) ? json_array_get(plan, i) : plan;
		struct error ignored = {0};
		size_t cases;

		if (product_decode(&product, part, &ignored))
			break;
		cases = product_count(&product);
		/* More than a million cases are rejected at once. */
		sum += cases;
	}
	return sum;
}

#endif
