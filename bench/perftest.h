/* SPDX-License-Identifier: MIT */
/* What perftest calls by other names. */
#ifndef BENCH_PERFTEST_H
#define BENCH_PERFTEST_H

#include <stddef.h>

/*
 * What stands for perftest's option of that name and length here: options, which begin with a
 * dash, or what else there is to say. NULL: nothing does.
 */
const char *perftest_option(const char *name, size_t length);

#endif
