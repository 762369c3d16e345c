/* SPDX-License-Identifier: MIT */
/*
 * Makes allocations fail on demand, in programs that are linked with --wrap for malloc, calloc and
 * reallocarray.
 */
#ifndef REPORTS_TEST_LIB_FAILING_H
#define REPORTS_TEST_LIB_FAILING_H

#include <stdbool.h>
#include <stddef.h>

/* Number of allocations before one fails; negative: none fails. */
static int allocations = -1;

static bool fails(void)
{
	return allocations >= 0 && allocations-- == 0;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *__real_reallocarray(void *block, size_t count, size_t size);
void *__wrap_reallocarray(void *block, size_t count, size_t size);
void *__wrap_reallocarray(void *block, size_t count, size_t size)
{
	return fails() ? NULL : __real_reallocarray(block, count, size);
}

#endif
