/* SPDX-License-Identifier: MIT */
/* What perftest's options are called here. */
#ifndef BENCH_CLI_PERFTEST_OPTIONS_H
#define BENCH_CLI_PERFTEST_OPTIONS_H

#include <stddef.h>

/*
 * What stands for perftest's option of that name and length here: options, which begin with a
 * dash, or a sentence, also where there is nothing like it. NULL: it is none of perftest's that is
 * known.
 */
const char *perftest_option(const char *name, size_t length);

#endif
