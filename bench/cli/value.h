/* SPDX-License-Identifier: MIT */
/*
 * Values as people write them on a command line: counts, sizes, times. Each takes
 * the whole text or refuses it; nothing wraps around.
 */
#ifndef BENCH_CLI_VALUE_H
#define BENCH_CLI_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A decimal number from least to most. */
bool value_count(const char *text, uint64_t least, uint64_t most, uint64_t *count);

/* Bytes: a number with k, m or g behind it, of 1024 each (4k is 4096). */
bool value_size(const char *text, uint64_t *bytes);

/* Milliseconds: a number with ms, s, m or h behind it; a bare one is of seconds. */
bool value_duration(const char *text, unsigned int *ms);

/* Nanoseconds: a number with ns, us, ms, s, m or h behind it; a bare one is of seconds. */
bool value_time(const char *text, uint64_t *ns);

/* Back to the shortest text that says the same. */
void value_print_size(uint64_t bytes, char *text, size_t size);
void value_print_time(uint64_t ns, char *text, size_t size);

#endif
