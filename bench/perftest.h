/* SPDX-License-Identifier: MIT */
/* What perftest calls by other names. */
#ifndef BENCH_PERFTEST_H
#define BENCH_PERFTEST_H

#include <stddef.h>

/* What stands for perftest's long option of that name and length here; NULL: nothing does. */
const char *perftest_option(const char *name, size_t length);

#endif
