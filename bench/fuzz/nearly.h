/* SPDX-License-Identifier: MIT */
/* Keeps a fuzzer from what is right and only takes long: products of many cases. */
#ifndef BENCH_FUZZ_NEARLY_H
#define BENCH_FUZZ_NEARLY_H

#include <jansson.h>

#include "bench/plan/product.h"

#define NEARLY_MOST 500

/* The cases of a plan, which is an array of products or one; 0: a part of it is none. */
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
		/* More than a million are refused at once. */
		sum += cases;
	}
	return sum;
}

#endif
