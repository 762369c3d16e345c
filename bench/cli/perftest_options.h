/* SPDX-License-Identifier: MIT */
/* The equivalents of perftest's options and programs. */
#ifndef BENCH_CLI_PERFTEST_OPTIONS_H
#define BENCH_CLI_PERFTEST_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns what to do instead of using perftest's option of that name and length, as the second
 * half of a sentence ("use -q"), or NULL if perftest has no such option.
 */
const char *perftest_option(const char *name, size_t length);

/* Writes the equivalent of a program ("run --op write --metric bw"). false: it is not perftest's. */
bool perftest_command(const char *name, char *instead, size_t size);

#endif
