/* SPDX-License-Identifier: MIT */
/*
 * Parsers for values of a command line: counts, sizes, times. Each returns false unless the whole
 * text is a value that fits. The case of units is ignored.
 */
#ifndef BENCH_CLI_VALUE_H
#define BENCH_CLI_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parses a decimal number from least to most. */
bool value_count(const char *text, uint64_t least, uint64_t most, uint64_t *count);

/* Parses bytes: a number and k, m or g, or kb, KiB, ...; all are powers of 1024. */
bool value_size(const char *text, uint64_t *bytes);

/* Parses a number and ms, s, m or h as milliseconds; without a unit, it is in seconds. */
bool value_duration(const char *text, unsigned int *ms);

/* Parses a number and ns, us, ms, s, m or h as nanoseconds; without a unit, it is in seconds. */
bool value_time(const char *text, uint64_t *ns);

/* Print the value in the largest unit in which it is a whole number. */
void value_print_size(uint64_t bytes, char *text, size_t size);
void value_print_time(uint64_t ns, char *text, size_t size);

#endif
